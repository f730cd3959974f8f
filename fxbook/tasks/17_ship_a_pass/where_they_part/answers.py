"""Answers to 17-where-they-part: the first node whose value differs between two runs."""

import copy
import itertools

import torch
from torch import fx
from torch.utils import _pytree as pytree

from fxbook.tasks.answering import breaks, right, wrong

LEFT = "17_ship_a_pass#what-a-pass-must-keep-is-a-list-of-functions"


def is_close(one, other):
    try:
        torch.testing.assert_close(one, other)
    except (AssertionError, TypeError):
        return False
    return True


class Keeping(fx.Interpreter):
    def run_node(self, node):
        value = super().run_node(node)
        self.kept = {**getattr(self, "kept", {}), node.name: copy.deepcopy(value)}
        return value


def values_of(module, inputs):
    keeping = Keeping(module)
    with torch.no_grad():
        keeping.run(*inputs)
    return keeping.kept


def first(here, there, close=is_close, order=None):
    """The first name, in the given order or that of the first run, whose values in the two runs differ."""
    return next((name for name in order or here if name in there and not close(here[name], there[name])), None)


def compare(before, after, inputs, close=is_close, order=None):
    return first(values_of(before, inputs), values_of(after, inputs), close, order)


@right
def compares_two_runs(before, after, *inputs):
    return compare(before, after, inputs)


@right
def clones_tensors_in_trees(before, after, *inputs):
    """Needs no subclass of Interpreter, since it calls ``run_node`` for each node itself."""
    tables = []
    for module in (before, after):
        run = fx.Interpreter(module, garbage_collect_values=False)
        run.args_iter = iter(inputs)
        table = {}
        for node in module.graph.nodes:
            value = run.env[node] = run.run_node(node)
            table[node.name] = pytree.tree_map_only(torch.Tensor, torch.clone, value)
        tables.append(table)
    return first(*tables)


@right
def cuts_the_graph_at_each_node(before, after, *inputs):
    """Runs, for each node, a copy of the graph that returns the node's value: slow, but it keeps no values."""

    def value_at(module, name):
        draft = copy.deepcopy(module)
        node, *later = itertools.dropwhile(lambda node: node.name != name, draft.graph.nodes)
        for one in reversed(later):
            draft.graph.erase_node(one)
        if later:
            draft.graph.output(node)
        draft.recompile()
        return draft(*inputs)

    names = [node.name for node in before.graph.nodes if node.op != "placeholder"]
    both = [name for name in names if name in {node.name for node in after.graph.nodes}]
    return next((name for name in both if not is_close(value_at(before, name), value_at(after, name))), None)


@right
def outputs_all_values_at_once(before, after, *inputs):
    """Runs a copy of each module that returns copies of all its values."""

    def all_values(module):
        draft = copy.deepcopy(module)
        copies = {}
        for node in list(draft.graph.nodes):
            if node.op == "output":
                copies[node.name] = node.args[0]
                node.args = (copies,)
            elif node.op != "placeholder":
                with draft.graph.inserting_after(node):
                    copies[node.name] = draft.graph.call_function(copy.deepcopy, (node,))
        draft.recompile()
        with torch.no_grad():
            return draft(*inputs)

    here, there = all_values(before), all_values(after)
    return first(here, there, order=[node.name for node in before.graph.nodes if node.name in here])


@breaks(
    "Two values are equal if `torch.testing.assert_close` accepts them.",
    case="a block of BERT with rounding and a wrong factor",
)
@wrong("first_that_differs", says="has the same value in both graphs, except for rounding")
def compares_exactly(before, after, *inputs):
    return compare(before, after, inputs, lambda one, other: not torch.is_tensor(one) or torch.equal(one, other))


@breaks(
    "A node of `after` corresponds to the node of `before` with the same name;",
    case="a block of BERT with rounding and a wrong factor",
)
@wrong("first_that_differs", says="is not a node of `before`")
def goes_through_the_nodes_of_after(before, after, *inputs):
    here, there = values_of(before, inputs), values_of(after, inputs)
    return next((name for name in there if name not in here or not is_close(here[name], there[name])), None)


@breaks(
    "skip a node of `before` that is missing from `after`.", case="a block of BERT with rounding and a wrong factor"
)
@wrong("first_that_differs", says="is not a node of `after`: skip it")
def counts_a_missing_node_as_a_difference(before, after, *inputs):
    here, there = values_of(before, inputs), values_of(after, inputs)
    return next((name for name in here if name not in there or not is_close(here[name], there[name])), None)


@breaks("Compare the values as they were when the nodes returned them:", case="a value written in place")
@wrong(
    "first_that_differs",
    says="(a value written in place): node `exp` has the same value in both graphs, until a later node",
)
def keeps_no_copies(before, after, *inputs):
    tables = []
    for module in (before, after):
        run = fx.Interpreter(module, garbage_collect_values=False)
        run.run(*inputs)
        tables.append({node.name: value for node, value in run.env.items()})
    return first(*tables)


@breaks("The output counts as a node.", case="a block of BERT with rounding and a wrong factor")
@wrong("first_that_differs", says="has a different value in `after`, but the answer is `None`")
def leaves_out_the_output(before, after, *inputs):
    found = compare(before, after, inputs)
    return None if found == "output" else found


@breaks("Return `None` if no node differs.", case="rounding near 0")
@wrong("first_that_differs", says="has the same value in both graphs, except for rounding")
def assumes_that_a_node_differs(before, after, *inputs):
    return compare(before, after, inputs) or "output"


@breaks("in the order of its list,", case="each branch wrong by a thousandth")
@wrong("first_that_differs", says="also has a different value, and comes before `mul_1`")
def goes_by_the_order_of_after(before, after, *inputs):
    return compare(after, before, inputs)


@breaks("that has a different value", case="a different second result")
@wrong("first_that_differs", says="has a different value in `after`, but the answer is `None`")
def compares_the_first_tensor(before, after, *inputs):
    return compare(before, after, inputs, lambda *both: is_close(*(pytree.tree_leaves(value)[0] for value in both)))


@breaks("a different value in `after`", case="a different key")
@wrong("first_that_differs", says="has a different value in `after`, but the answer is `None`")
def compares_leaves_without_their_keys(before, after, *inputs):
    return compare(before, after, inputs, lambda *both: is_close(*map(pytree.tree_leaves, both)))


@breaks("that has a different value in `after` for these inputs.", case="a different weight")
@wrong("first_that_differs", says="also has a different value, and comes before `addmm`")
def does_not_compare_weights(before, after, *inputs):
    calls = [node.name for node in before.graph.nodes if node.op not in ("placeholder", "get_attr")]
    return compare(before, after, inputs, order=calls)


@breaks("Return the name", case="a block of GPT-2 with one wrong call")
@wrong("first_that_differs", says="itself, not its name.")
def returns_the_node(before, after, *inputs):
    name = compare(before, after, inputs)
    return next((node for node in before.graph.nodes if node.name == name), None)


@breaks("Leave both graphs", case="a block of GPT-2 with one wrong call")
@wrong("given_left_alone", says="A graph that was passed has been changed", read=LEFT)
def returns_all_values_from_the_given_graph(before, after, *inputs):
    name = compare(before, after, inputs)
    for module in (before, after):
        output = module.graph.output_node()
        output.args = (tuple(node for node in module.graph.nodes if node.op != "output"),)
    return name


@breaks("and the inputs unchanged.", case="a block of GPT-2 with one wrong call")
@wrong("given_left_alone", says="An input that was passed has been written", read=LEFT)
def rounds_the_inputs(before, after, *inputs):
    name = compare(before, after, inputs)
    for value in inputs:
        value.round_(decimals=3)
    return name
