"""Answers to 04-forget-nothing."""

import contextlib
import copy

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

HALF = "04_recompile#an-edit-that-stops-half-way-stays-in-the-graph"
LINT = "when_it_breaks/04_recompile#what-lint-can-see-and-what-recompile-finds"
STALE = "04_recompile#who-sees-an-edit-at-once"


@right
@contextlib.contextmanager
def restores_from_a_stack(traced):
    with contextlib.ExitStack() as stack:
        stack.callback(setattr, traced, "graph", copy.deepcopy(traced.graph))
        yield traced.graph
        traced.graph.lint()
        traced.recompile()
        stack.pop_all()


@right
@contextlib.contextmanager
def tries_a_draft_in_a_module_of_its_own(traced):
    former = traced.graph
    draft = copy.deepcopy(former)
    try:
        yield draft
        fx.GraphModule(traced, copy.deepcopy(draft)).graph.lint()
        traced.graph = draft
        draft.lint()
    except BaseException:
        traced.graph = former
        raise


@right
class KeepsTheNodes(contextlib.AbstractContextManager):
    def __init__(self, traced):
        self.traced = traced

    def __enter__(self):
        self.former, values = fx.Graph(), {}
        for node in self.traced.graph.nodes:
            values[node] = self.former.node_copy(node, values.__getitem__)
        self.former.set_codegen(copy.deepcopy(self.traced.graph._codegen))
        return self.traced.graph

    def finish(self):
        self.traced.graph.lint()
        self.traced.recompile()

    def __exit__(self, kind, error, tb):
        if kind is not None:
            self.traced.graph = self.former
            return False
        try:
            self.finish()
        except BaseException:
            self.traced.graph = self.former
            raise


@right
def pushes_an_exit_function(traced):
    former = copy.deepcopy(traced.graph)

    def leave(kind, error, tb):
        try:
            if kind is None:
                traced.graph.lint()
                traced.graph = traced.graph
        except BaseException:
            kind = True
            raise
        finally:
            if kind is not None:
                traced.graph = former

    class Manager(contextlib.ExitStack):
        def __enter__(self):
            super().__enter__()
            self.push(leave)
            return traced.graph

    return Manager()


@contextlib.contextmanager
def restoring(traced, former=None, *, lint=True, caught=BaseException, attribute="graph"):
    """The solution, with parameters for its parts."""
    if former is None:
        former = copy.deepcopy(traced.graph)
    try:
        yield traced.graph
        if lint:
            traced.graph.lint()
        traced.recompile()
    except caught:
        setattr(traced, attribute, former)
        raise


@breaks("When the block ends, the graph of `traced` is linted", case="an edit that breaks the order")
@wrong("lets_the_error_out", says="left a graph that lint rejects, but nothing was raised", read=LINT)
def never_lints(traced):
    return restoring(traced, lint=False)


@breaks("or leaves a graph that `lint` or `recompile` rejects", case="an edit that breaks the order")
@wrong("as_before_or_edited", says="the graph is not the former one: its nodes are in a different order", read=HALF)
@contextlib.contextmanager
def restores_only_after_an_error_in_the_block(traced):
    former = copy.deepcopy(traced.graph)
    try:
        yield traced.graph
    except BaseException:
        traced.graph = former
        raise
    traced.graph.lint()
    traced.recompile()


@breaks("That graph is compiled, even if `traced` was stale before.", case="an interrupted block, on a stale module")
@wrong("left_well", says="block failed, and the module is still stale", read=STALE)
@contextlib.contextmanager
def leaves_a_stale_module_stale(traced):
    former, draft = traced.graph, copy.deepcopy(traced.graph)
    yield draft
    try:
        traced.graph = draft
        draft.lint()
    except Exception:
        traced.graph = former
        raise


@breaks("`with editing(traced) as graph:` gives the graph to edit.", case="a valid edit")
@wrong("gives_the_graph", says="gives an object of class NoneType, not the graph to edit")
@contextlib.contextmanager
def gives_nothing(traced):
    with restoring(traced):
        yield


@breaks("only its graph is edited in the block.", case="a valid edit")
@wrong("as_before_or_edited", says="The edit is valid, but it is not in the graph", read=HALF)
@contextlib.contextmanager
def never_assigns_the_edited_copy(traced):
    draft = copy.deepcopy(traced.graph)
    yield draft
    fx.GraphModule(traced, draft).graph.lint()


@breaks("even `KeyboardInterrupt`", case="an interrupted block, on a stale module")
@wrong("as_before_or_edited", says="the edit failed with KeyboardInterrupt, and the graph is not", read=HALF)
def catches_every_exception(traced):
    return restoring(traced, caught=Exception)


@breaks(
    "and `meta` of its nodes.",
    "the keys must be as before, and each must refer to the same object.",
    case="new `meta`, on a module that takes a dict",
)
@wrong("as_before_or_edited", says="`meta` of `given_1` holds 'why: rewritten', not 'why: step 0'", read=HALF)
@contextlib.contextmanager
def restores_only_if_the_printed_graph_differs(traced):
    former = copy.deepcopy(traced.graph)
    try:
        yield traced.graph
        traced.graph.lint()
        traced.recompile()
    except BaseException:
        if str(traced.graph) != str(former):
            traced.graph = former
        else:
            traced.recompile()
        raise


@breaks("with the names", case="an edit that stops half-way")
@wrong("as_before_or_edited", says="but a node that was called `step_1` is now `up`", read=HALF)
def traces_the_module_before_the_block(traced):
    former = fx.symbolic_trace(traced).graph
    for new, old in zip(former.nodes, traced.graph.nodes, strict=False):
        new.meta = dict(old.meta)
    return restoring(traced, former)


@breaks("error propagates to the caller.", case="an error that is not an Exception, on a stale module")
@wrong("lets_the_error_out", says="the edit raised StoppedError, but the caller got RuntimeError")
class LintsAfterAnErrorToo(KeepsTheNodes):
    """If the block leaves a graph that ``lint`` rejects, the error from ``lint`` hides the one from the block."""

    def __exit__(self, kind, error, tb):
        try:
            self.finish()
        except BaseException:
            self.traced.graph = self.former
            raise
        if kind is not None:
            self.traced.graph = self.former


@breaks("The same error", case="an edit that stops half-way")
@wrong("lets_the_error_out", says="a ValueError, but the caller got a different object of that class")
@contextlib.contextmanager
def raises_another_error_of_the_class(traced):
    try:
        with restoring(traced) as graph:
            yield graph
    except BaseException as error:
        raise type(error)(*error.args) from None


@breaks("`traced` gets its former graph back", case="new `meta`, on a module that takes a dict")
@wrong("takes_its_inputs", says="not `given`: the codegen is lost", read=HALF)
def copies_only_the_nodes(traced):
    former, values = fx.Graph(), {}
    for node in traced.graph.nodes:
        values[node] = former.node_copy(node, values.__getitem__)
    return restoring(traced, former)


@breaks("That graph is compiled", case="an edit that stops half-way")
@wrong("owned", says="The graph of the module has no owner and is not compiled", read=STALE)
def sets_the_private_attribute(traced):
    return restoring(traced, attribute="_graph")
