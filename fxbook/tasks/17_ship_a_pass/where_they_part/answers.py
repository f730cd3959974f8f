"""Answers to 17-where-they-part: two runs, and the first value that differs."""

import copy

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


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def compares_two_tables(before, after, *inputs):
    here, there = values_of(before, inputs), values_of(after, inputs)
    return next((name for name in here if name in there and not is_close(here[name], there[name])), None)


@right
def clones_tensors_in_trees(before, after, *inputs):
    """No Interpreter class: its methods are called for each node."""
    tables = []
    for module in (before, after):
        run = fx.Interpreter(module, garbage_collect_values=False)
        run.args_iter = iter(inputs)
        table = {}
        for node in module.graph.nodes:
            value = run.env[node] = run.run_node(node)
            table[node.name] = pytree.tree_map_only(torch.Tensor, torch.clone, value)
        tables.append(table)
    for name in [*tables[0]]:
        if name in tables[1] and not is_close(tables[0][name], tables[1][name]):
            return name
    return None


@right
def cuts_the_graph_at_each_node(before, after, *inputs):
    """A copy that returns one value, for each node: slow, and it keeps no values."""

    def value_at(module, name):
        draft = copy.deepcopy(module)
        node = next(node for node in draft.graph.nodes if node.name == name)
        if node.op != "output":
            for later in list(reversed(draft.graph.nodes)):
                if later is node:
                    break
                draft.graph.erase_node(later)
            draft.graph.output(node)
        draft.graph.lint()
        draft.recompile()
        return draft(*inputs)

    names = {node.name for node in after.graph.nodes}
    for node in before.graph.nodes:
        if node.name not in names or node.op == "placeholder":
            continue
        if not is_close(value_at(before, node.name), value_at(after, node.name)):
            return node.name
    return None


@right
def outputs_all_values_at_once(before, after, *inputs):
    """Each module is changed, in a copy, so that it returns a copy of each of its values."""

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
    order = [node.name for node in before.graph.nodes if node.name in here and node.name in there]
    return next((name for name in order if not is_close(here[name], there[name])), None)


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("that gives another value in `after` for these inputs.", case="a block of BERT, rounding and a factor")
@wrong("first_that_differs", says="gives the same value in both")
def compares_the_texts(before, after, *inputs):
    """But for calls of functions that are calls of methods now."""

    def text(node):
        return f"{getattr(node.target, '__name__', node.target)}: {node.args}, {node.kwargs}"

    there = {node.name: text(node) for node in after.graph.nodes}
    for node in before.graph.nodes:
        if node.name in there and text(node) != there[node.name]:
            return node.name
    return None


@breaks(
    "Values that `torch.testing.assert_close` takes for equal are equal.", case="a block of BERT, rounding and a factor"
)
@wrong("first_that_differs", says="gives the same value in both, but for rounding")
def compares_exactly(before, after, *inputs):
    here, there = values_of(before, inputs), values_of(after, inputs)
    for name in here:
        if name in there and torch.is_tensor(here[name]) and not torch.equal(here[name], there[name]):
            return name
    return None


@breaks("A node of `after` is the same node if it has the same name;", case="a block of BERT, rounding and a factor")
@wrong("first_that_differs", says="is not a node of `before`")
def goes_through_the_nodes_of_after(before, after, *inputs):
    here, there = values_of(before, inputs), values_of(after, inputs)
    return next((name for name in there if name not in here or not is_close(here[name], there[name])), None)


@breaks("skip a node of `before` that `after` has not.", case="a block of BERT, rounding and a factor")
@wrong("first_that_differs", says="is not a node of `after`, so there is nothing to compare")
def takes_a_missing_node_for_a_difference(before, after, *inputs):
    here, there = values_of(before, inputs), values_of(after, inputs)
    return next((name for name in here if name not in there or not is_close(here[name], there[name])), None)


@breaks("What counts is what a node gave when it ran:", case="a value written in place")
@wrong(
    "first_that_differs", says="(a value written in place): node `exp` gives the same value in both, until a later node"
)
def keeps_no_copies(before, after, *inputs):
    tables = []
    for module in (before, after):
        run = fx.Interpreter(module, garbage_collect_values=False)
        run.run(*inputs)
        tables.append({node.name: value for node, value in run.env.items()})
    here, there = tables
    return next((name for name in here if name in there and not is_close(here[name], there[name])), None)


@breaks("`torch.testing.assert_close` takes for equal", case="another dtype")
@wrong("first_that_differs", says="(another dtype): node `output` gives another value in `after`, of another dtype")
def does_not_ask_for_the_dtype(before, after, *inputs):
    here, there = values_of(before, inputs), values_of(after, inputs)
    for name in here:
        try:
            torch.testing.assert_close(here[name], there.get(name, here[name]), check_dtype=False)
        except (AssertionError, TypeError):
            return name
    return None


@breaks("The output counts as a node.", case="a block of BERT, rounding and a factor")
@wrong("first_that_differs", says="gives another value in `after`, and the answer is `None`")
def leaves_out_the_output(before, after, *inputs):
    here, there = values_of(before, inputs), values_of(after, inputs)
    for node in before.graph.nodes:
        if node.op != "output" and node.name in there and not is_close(here[node.name], there[node.name]):
            return node.name
    return None


@breaks("Return `None` if no node differs.", case="other spellings")
@wrong("first_that_differs", says="gives the same value in both, but for rounding")
def takes_for_granted_that_one_differs(before, after, *inputs):
    return compares_two_tables(before, after, *inputs) or "output"


@breaks("of the first node of `before`,", case="a block of GPT-2, one call wrong")
@wrong("first_that_differs", says="gives another value too, and stands before")
def returns_the_last(before, after, *inputs):
    here, there = values_of(before, inputs), values_of(after, inputs)
    found = [name for name in here if name in there and not is_close(here[name], there[name])]
    return found[-1] if found else None


@breaks("in the order of its list,", case="each branch wrong by a thousandth")
@wrong("first_that_differs", says="gives another value too, and stands before `mul_1`")
def goes_by_the_order_of_after(before, after, *inputs):
    here, there = values_of(before, inputs), values_of(after, inputs)
    return next((name for name in there if name in here and not is_close(here[name], there[name])), None)


@breaks("that gives another value", case="another second result")
@wrong("first_that_differs", says="gives another value in `after`, and the answer is `None`")
def compares_the_first_tensor(before, after, *inputs):
    here, there = values_of(before, inputs), values_of(after, inputs)
    for name in here:
        if name in there:
            one, other = pytree.tree_leaves(here[name])[0], pytree.tree_leaves(there[name])[0]
            if not is_close(one, other):
                return name
    return None


@breaks("another value in `after`", case="another key")
@wrong("first_that_differs", says="gives another value in `after`, and the answer is `None`")
def compares_leaves_without_their_names(before, after, *inputs):
    here, there = values_of(before, inputs), values_of(after, inputs)
    for name in here:
        if name in there and not is_close(pytree.tree_leaves(here[name]), pytree.tree_leaves(there[name])):
            return name
    return None


@breaks("Return the name", case="a block of GPT-2, one call wrong")
@wrong("first_that_differs", says="is neither a node, nor its name, nor `None`")
def returns_all(before, after, *inputs):
    here, there = values_of(before, inputs), values_of(after, inputs)
    return [name for name in here if name in there and not is_close(here[name], there[name])]


@breaks("Leave both graphs", case="a block of GPT-2, one call wrong")
@wrong(
    "given_left_alone",
    says="A graph that was passed has been changed",
    read="17_ship_a_pass#what-a-pass-must-keep-is-a-list-of-functions",
)
def returns_all_values_from_the_given_graph(before, after, *inputs):
    name = compares_two_tables(before, after, *inputs)
    for module in (before, after):
        output = module.graph.output_node()
        output.args = (tuple(node for node in module.graph.nodes if node.op != "output"),)
    return name


@breaks("and the inputs as they are.", case="a block of GPT-2, one call wrong")
@wrong(
    "given_left_alone",
    says="An input that was passed has been written",
    read="17_ship_a_pass#what-a-pass-must-keep-is-a-list-of-functions",
)
def rounds_the_inputs(before, after, *inputs):
    name = compares_two_tables(before, after, *inputs)
    for value in inputs:
        value.round_(decimals=3)
    return name
