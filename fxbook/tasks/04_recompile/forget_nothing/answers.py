"""Answers to 04-forget-nothing."""

import contextlib
import copy

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

HALF = "04_recompile#an-edit-that-stops-half-way-stays-in-the-graph"
LINT = "when_it_breaks/04_recompile#what-lint-can-see-and-what-recompile-finds"
STALE = "04_recompile#who-sees-an-edit-at-once"


# ---- right -----------------------------------------------------------------------------------------------------------


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


# ---- wrong -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def going_back_to(traced, former):
    try:
        yield traced.graph
        traced.graph.lint()
        traced.recompile()
    except BaseException:
        traced.graph = former()
        raise


@breaks("When the block ends, the graph of `traced` is linted", case="an edit that breaks the order")
@wrong("lets_the_error_out", says="left a graph that lint rejects, but nothing was raised", read=LINT)
@contextlib.contextmanager
def knows_no_lint(traced):
    former = copy.deepcopy(traced.graph)
    try:
        yield traced.graph
        traced.recompile()
    except BaseException:
        traced.graph = former
        raise


@breaks("`traced` gets its former graph back", case="an edit that stops half-way")
@wrong("as_before_or_edited", says="the graph is not the former one: it has `step_2 = torch.tanh(step_1)`", read=HALF)
@contextlib.contextmanager
def keeps_the_graph_that_is_edited(traced):
    former = traced.graph
    try:
        yield traced.graph
        traced.graph.lint()
        traced.recompile()
    except Exception:
        traced.graph = former
        raise


@breaks("or leaves a graph that `lint` or `recompile` rejects", case="an edit that breaks the order")
@wrong("as_before_or_edited", says="the graph is not the former one: its nodes are in another order", read=HALF)
@contextlib.contextmanager
def goes_back_for_the_block_alone(traced):
    former = copy.deepcopy(traced.graph)
    try:
        yield traced.graph
    except BaseException:
        traced.graph = former
        raise
    traced.graph.lint()
    traced.recompile()


@breaks(
    "That graph is compiled, even if `traced` was stale before.", case="a block that is interrupted, on a stale module"
)
@wrong("left_well", says="block failed, and the module is as stale as before", read=STALE)
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


@breaks("`with editing(traced) as graph:` gives the graph to edit.", case="a good edit")
@wrong("gives_the_graph", says="gives an object of class NoneType, not the graph to edit")
@contextlib.contextmanager
def gives_nothing(traced):
    former = copy.deepcopy(traced.graph)
    try:
        yield
        traced.graph.lint()
        traced.recompile()
    except BaseException:
        traced.graph = former
        raise


@breaks("only its graph is edited in the block.", case="a good edit")
@wrong("as_before_or_edited", says="The edit is good, but it is not in the graph", read=HALF)
@contextlib.contextmanager
def edits_a_draft_that_goes_nowhere(traced):
    draft = copy.deepcopy(traced.graph)
    yield draft
    fx.GraphModule(traced, draft).graph.lint()


@breaks("even `KeyboardInterrupt`", case="a block that is interrupted, on a stale module")
@wrong(
    "as_before_or_edited",
    says="the edit failed with KeyboardInterrupt, and the graph is not",
    read=HALF,
)
@contextlib.contextmanager
def catches_every_exception(traced):
    former = copy.deepcopy(traced.graph)
    try:
        yield traced.graph
        traced.graph.lint()
        traced.recompile()
    except Exception:
        traced.graph = former
        raise


@breaks(
    "and `meta` of its nodes.",
    "the keys, and which value each key has, must be as before.",
    case="an edit of names and notes, on a module that takes a dict",
)
@wrong(
    "as_before_or_edited",
    says="`meta` of `given_1` holds 'why: rewritten', not 'why: step 0'",
    read=HALF,
)
@contextlib.contextmanager
def gives_the_copy_the_notes_of_the_nodes(traced):
    former = copy.deepcopy(traced.graph)
    notes = [node.meta for node in traced.graph.nodes]
    try:
        yield traced.graph
        traced.graph.lint()
        traced.recompile()
    except BaseException:
        traced.graph = former
        for node, meta in zip(former.nodes, notes, strict=True):
            node.meta = meta
        raise


@breaks("with the names", case="an edit that stops half-way")
@wrong("as_before_or_edited", says="but a node that was called `step_1` is now `up`", read=HALF)
def traces_the_module_before_the_block(traced):
    former = fx.symbolic_trace(traced).graph
    for new, old in zip(former.nodes, traced.graph.nodes, strict=False):
        new.meta = dict(old.meta)
    return going_back_to(traced, lambda: former)


@breaks("error propagates to the caller.", "The same error", case="an edit that stops half-way")
@wrong("lets_the_error_out", says="a ValueError, but the caller saw another object of that class")
@contextlib.contextmanager
def raises_another_error_of_the_class(traced):
    former = copy.deepcopy(traced.graph)
    try:
        yield traced.graph
        traced.graph.lint()
        traced.recompile()
    except BaseException as error:
        traced.graph = former
        raise type(error)(*error.args) from None


@breaks("its former graph back", case="an edit of names and notes, on a module that takes a dict")
@wrong("takes_its_inputs", says="not `given`: the codegen is lost", read=HALF)
def copies_the_nodes_alone(traced):
    former, values = fx.Graph(), {}
    for node in traced.graph.nodes:
        values[node] = former.node_copy(node, values.__getitem__)
    return going_back_to(traced, lambda: former)


@breaks("That graph is compiled", case="an edit that stops half-way")
@wrong("owned", says="The graph of the module has no owner and is not compiled", read=STALE)
@contextlib.contextmanager
def puts_the_graph_back_past_the_module(traced):
    former = copy.deepcopy(traced.graph)
    try:
        yield traced.graph
        traced.graph.lint()
        traced.recompile()
    except BaseException:
        traced._graph = former
        raise
