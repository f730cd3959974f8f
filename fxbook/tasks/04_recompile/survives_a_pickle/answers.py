"""Answers to 04-survives-a-pickle."""

import copy
import itertools
import operator
import pickle
import tempfile

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

PICKLE = "04_recompile#save-and-load"
COPY = "when_it_breaks/04_recompile#what-a-copy-keeps"


def program(graph):
    return [(node.op, node.target) for node in graph.nodes]


def through(module):
    return pickle.loads(pickle.dumps(module))


# ---- right -----------------------------------------------------------------------------------------------------------


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


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("the same opcodes with the same targets", case="a function of your own")
@wrong("foretells_the_pickle", says="but the program does not survive: a function of your own", read=PICKLE)
def only_tries_it(traced):
    try:
        through(copy.deepcopy(traced))
    except Exception:
        return False
    return True


@breaks("your answer is about the graph, not about the code.", case="an edit that was not compiled")
@wrong("foretells_the_pickle", says="but the program survives: an edit that was not compiled", read=PICKLE)
def pickles_a_shallow_copy_of_the_stale_module(traced):
    try:
        loaded = through(fx.GraphModule(traced, fx.symbolic_trace(traced).graph))
    except Exception:
        return False
    return program(loaded.graph) == program(traced.graph)


@breaks("Leave `traced` as it is", case="an edit that was not compiled")
@wrong("input_unchanged", says="its code was recompiled")
def pickles_the_module_itself(traced):
    try:
        loaded = through(traced)
    except Exception:
        return False
    return program(loaded.graph) == program(traced.graph)


@breaks("and do not change the owner of its graph.", case="the block of the chapter")
@wrong("left_alone", says="The graph now belongs to another module", read=COPY)
def wraps_the_graph_once_more(traced):
    try:
        loaded = through(fx.GraphModule(traced, traced.graph))
    except Exception:
        return False
    return program(loaded.graph) == program(traced.graph)


@wrong(
    "foretells_the_pickle",
    says="but the program survives: a module of your own that chooses",
    read=PICKLE,
)
def traces_in_place_of_pickling(traced):
    try:
        loaded = fx.symbolic_trace(copy.deepcopy(traced))
    except Exception:
        return False
    return program(loaded.graph) == program(traced.graph)


@breaks("the same opcodes with the same targets", case="a namesake of an operator")
@wrong("foretells_the_pickle", says="fxbook.cases.importable.mul becomes a call_function of operator.mul", read=PICKLE)
def compares_the_names_of_targets(traced):
    try:
        loaded = through(copy.deepcopy(traced))
    except Exception:
        return False
    pairs = itertools.zip_longest(program(loaded.graph), program(traced.graph), fillvalue=("", ""))
    return all(getattr(a, "__name__", a) == getattr(b, "__name__", b) for (_, a), (_, b) in pairs)


@breaks("in the same order.", case="a shape taken early and used late")
@wrong("foretells_the_pickle", says="does not survive: a shape taken early and used late", read=PICKLE)
def compares_in_any_order(traced):
    try:
        loaded = through(copy.deepcopy(traced))
    except Exception:
        return False
    return sorted(map(str, program(loaded.graph))) == sorted(map(str, program(traced.graph)))


@wrong(
    "ends well",
    says="our code raises ObjNotFoundError",
    read="when_it_breaks/04_recompile#objnotfounderror-function-lambda--was-not-found-as-__main__lambda",
)
def lets_the_error_through(traced):
    return program(through(copy.deepcopy(traced)).graph) == program(traced.graph)


@breaks(
    "Return `True` if the program in the graph of `traced` comes through `pickle.dumps` and `pickle.loads` unchanged:",
    case="noise without an input",
)
@wrong("foretells_the_pickle", says="does not survive: noise without an input", read=PICKLE)
def knows_a_list_of_losses(traced):
    for node in traced.graph.nodes:
        if node.op != "call_function":
            continue
        known = str(node.target.__module__).split(".")[0] in ("torch", "_operator", "builtins")
        if not known or node.target is operator.iadd:
            return False
    return True


@breaks("If pickling or loading raises an error, return `False`.", case="a lambda")
@wrong("foretells_the_pickle", says="does not survive: a lambda", read=PICKLE)
def returns_true_where_pickling_raises(traced):
    try:
        loaded = through(copy.deepcopy(traced))
    except Exception:
        return True
    return program(loaded.graph) == program(traced.graph)


@breaks("or loading raises an error, return `False`.", case="a function that chooses")
@wrong("foretells_the_pickle", says="does not survive: a function that chooses", read=PICKLE)
def asks_only_whether_it_can_be_pickled(traced):
    try:
        pickled = pickle.dumps(copy.deepcopy(traced))
    except Exception:
        return False
    try:
        return program(pickle.loads(pickled).graph) == program(traced.graph)
    except fx.proxy.TraceError:
        return True


@breaks("Names and `meta` do not count.", case="nodes with names of their own")
@wrong("foretells_the_pickle", says="but the program survives: nodes with names of their own", read=PICKLE)
def compares_names_too(traced):
    try:
        loaded = through(copy.deepcopy(traced))
    except Exception:
        return False
    return [str(node) for node in loaded.graph.nodes] == [str(node) for node in traced.graph.nodes]
