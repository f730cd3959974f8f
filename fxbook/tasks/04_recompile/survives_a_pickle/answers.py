"""Answers to 04-survives-a-pickle."""

import copy
import itertools
import operator
import pickle
import tempfile

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

LAMBDA = "when_it_breaks/04_recompile#objnotfounderror-function-lambda--was-not-found-as-__main__lambda"
PICKLE = "04_recompile#save-and-load"
COPY = "when_it_breaks/04_recompile#what-a-copy-keeps"


def program(graph):
    return [(node.op, node.target) for node in graph.nodes]


def through(module):
    return pickle.loads(pickle.dumps(module))


@right
def compares_node_by_node(traced):
    try:
        loaded = through(copy.deepcopy(traced))
    except Exception:
        return False
    before, after = list(traced.graph.nodes), list(loaded.graph.nodes)
    if len(before) != len(after):
        return False
    return all(a.op == b.op and a.target == b.target for a, b in zip(before, after, strict=True))


@right
def compares_the_text_without_names(traced):
    def text(module):
        draft = copy.deepcopy(module)
        for number, node in enumerate(draft.graph.nodes):
            if node.op != "placeholder":
                node._rename(f"renamed_{number}")
        return draft.graph.python_code("self").src

    try:
        return text(through(copy.deepcopy(traced))) == text(traced)
    except Exception:
        return False


@right
def pickles_a_deep_copy_with_the_old_protocol(traced):
    with tempfile.TemporaryFile() as file:
        try:
            pickle.dump(copy.deepcopy(traced), file, protocol=2)
            file.seek(0)
            loaded = pickle.load(file)
        except Exception:
            return False
    pairs = itertools.zip_longest(loaded.graph.nodes, traced.graph.nodes)
    return all(a is not None and b is not None and (a.op, a.target) == (b.op, b.target) for a, b in pairs)


@right
def compares_two_columns(traced):
    try:
        loaded, nodes = through(copy.deepcopy(traced)).graph.nodes, traced.graph.nodes
    except Exception:
        return False
    same_opcodes = [node.op for node in loaded] == [node.op for node in nodes]
    return same_opcodes and [node.target for node in loaded] == [node.target for node in nodes]


def reloaded(traced):
    return through(copy.deepcopy(traced))


def same_program(loaded, traced):
    return program(loaded.graph) == program(traced.graph)


def survives(traced, load=reloaded, same=same_program, on_error=False):
    """The solution, with parameters for its parts."""
    try:
        loaded = load(traced)
    except Exception:
        return on_error
    return same(loaded, traced)


@breaks("the same opcodes with the same targets", case="a user-defined function")
@wrong("predicts_the_pickle", says="True for a user-defined function, but the program does not survive", read=PICKLE)
def only_tries_it(traced):
    return survives(traced, same=lambda loaded, traced: True)


@breaks("your answer is about the graph, not about the code.", case="an edit that was not compiled")
@wrong("predicts_the_pickle", says="False for an edit that was not compiled, but the program survives", read=PICKLE)
def pickles_a_shallow_copy_of_the_stale_module(traced):
    return survives(traced, lambda traced: through(fx.GraphModule(traced, fx.symbolic_trace(traced).graph)))


@breaks("Leave `traced` as it is", case="an edit that was not compiled")
@wrong("input_unchanged", says="its code was recompiled")
def pickles_the_module_itself(traced):
    return survives(traced, through)


@breaks("and do not change the owner of its graph.", case="the block of the chapter")
@wrong("left_alone", says="The graph now belongs to another module", read=COPY)
def wraps_the_graph_once_more(traced):
    return survives(traced, lambda traced: through(fx.GraphModule(traced, traced.graph)))


@wrong("predicts_the_pickle", says="False for a user-defined module that chooses, but the program", read=PICKLE)
def traces_instead_of_pickling(traced):
    return survives(traced, lambda traced: fx.symbolic_trace(copy.deepcopy(traced)))


@breaks("the same opcodes with the same targets", case="a function with the name of an operator")
@wrong("predicts_the_pickle", says="fxbook.cases.importable.mul becomes a call_function of operator.mul", read=PICKLE)
def compares_the_names_of_targets(traced):
    def same(loaded, traced):
        pairs = itertools.zip_longest(program(loaded.graph), program(traced.graph), fillvalue=("", ""))
        return all(getattr(a, "__name__", a) == getattr(b, "__name__", b) for (_, a), (_, b) in pairs)

    return survives(traced, same=same)


@breaks("in the same order.", case="a shape taken early and used late")
@wrong("predicts_the_pickle", says="True for a shape taken early and used late, but the program does", read=PICKLE)
def compares_in_any_order(traced):
    def lines(module):
        return sorted(map(str, program(module.graph)))

    return survives(traced, same=lambda loaded, traced: lines(loaded) == lines(traced))


@wrong("ends well", says="our code raises ObjNotFoundError", read=LAMBDA)
def lets_the_error_through(traced):
    return same_program(reloaded(traced), traced)


@breaks(
    "Return `True` if the program in the graph of `traced` comes through `pickle.dumps` and `pickle.loads` unchanged:",
    case="noise without an input",
)
@wrong("predicts_the_pickle", says="True for noise without an input, but the program does not survive", read=PICKLE)
def lists_what_is_lost(traced):
    for node in traced.graph.nodes:
        if node.op != "call_function":
            continue
        known = str(node.target.__module__).split(".")[0] in ("torch", "_operator", "builtins")
        if not known or node.target is operator.iadd:
            return False
    return True


@breaks("If pickling or loading raises an error, return `False`.", case="a lambda without users")
@wrong("predicts_the_pickle", says="True for a lambda without users, but the program does not survive", read=PICKLE)
def returns_true_where_pickling_raises(traced):
    return survives(traced, on_error=True)


@breaks("or loading raises an error, return `False`.", case="a function that chooses")
@wrong("predicts_the_pickle", says="True for a function that chooses, but the program does not survive", read=PICKLE)
def checks_only_that_pickling_works(traced):
    try:
        pickled = pickle.dumps(copy.deepcopy(traced))
    except Exception:
        return False
    try:
        return program(pickle.loads(pickled).graph) == program(traced.graph)
    except fx.proxy.TraceError:
        return True


@breaks("Names and `meta` do not count.", case="renamed nodes")
@wrong("predicts_the_pickle", says="False for renamed nodes, but the program survives", read=PICKLE)
def compares_names_too(traced):
    def names(module):
        return [node.name for node in module.graph.nodes]

    return survives(traced, same=lambda loaded, traced: names(loaded) == names(traced))
