"""Answers to 07-where-nan-begins: the first node whose value contains nan."""

import copy
import math
import operator

import torch
from torch import fx
from torch.utils import _pytree as pytree

from fxbook.tasks.answering import breaks, right, wrong

EVERY = "07_placeholder#every-node-takes-the-same-way"


def holds_nan(value):
    if isinstance(value, (tuple, list)):
        return any(map(holds_nan, value))
    return isinstance(value, torch.Tensor) and bool(value.isnan().any())


class Watching(fx.Interpreter):
    """Remembers the first node whose value passes a test."""

    def __init__(self, traced, test):
        super().__init__(traced)
        self.test, self.first = test, None

    def run_node(self, node):
        value = super().run_node(node)
        if self.first is None and self.test(value):
            self.first = node
        return value


def found_by(traced, values, test):
    watching = Watching(traced, test)
    watching.run(*values)
    return watching.first and watching.first.name


@right
def compares_with_itself(traced, *values):
    def differs(value):
        match value:
            case torch.Tensor():
                return bool((value != value).any())
            case list() | tuple():
                return any(map(differs, value))

    return found_by(traced, values, differs)


@right
def runs_it_without_an_interpreter(traced, *values):
    env, left = {}, list(values)
    for node in traced.graph.nodes:
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), env.__getitem__)
        match node.op:
            case "placeholder":
                env[node] = left.pop(0) if left else node.args[0]
            case "get_attr":
                env[node] = operator.attrgetter(node.target)(traced)
            case "call_module":
                env[node] = traced.get_submodule(node.target)(*args, **kwargs)
            case "call_method":
                env[node] = getattr(args[0], node.target)(*args[1:], **kwargs)
            case "call_function":
                env[node] = node.target(*args, **kwargs)
            case "output":
                env[node] = args[0]
        if holds_nan(env[node]):
            return node.name
    return None


@right
def inserts_tests_into_a_copy(traced, *values):
    found = []

    def look(name, value):
        found.extend([name] if holds_nan(value) else [])

    copied = copy.deepcopy(traced)
    for node in list(copied.graph.nodes):
        if node.op != "output":
            with copied.graph.inserting_after(node):
                copied.graph.call_function(look, (node.name, node))
    fx.Interpreter(copied).run(*values)
    return found[0] if found else None


@right
def counts_nan_in_every_value(traced, *values):
    counts = {}

    class Counting(fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            tensors = [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
            counts[node.name] = sum(int(torch.isnan(tensor).sum()) for tensor in tensors)
            return value

    Counting(traced).run(*values)
    return next((name for name, count in counts.items() if count), None)


@breaks(
    "Look at each value as its node computed it:",
    "a later in-place step may change it.",
    case="a step that works in place",
)
@wrong("nan_found", says="the answer is `add`, but the value of this node contains no nan", read=EVERY)
def looks_at_all_values_after_the_run(traced, *values):
    runner = fx.Interpreter(traced, garbage_collect_values=False)
    runner.run(*values)
    return next((node.name for node, value in runner.env.items() if holds_nan(value)), None)


@breaks("the first node in the run", case="nan in an input")
@wrong("nan_found", says="the answer is `score`, but the value of an earlier node, `rows`, already", read=EVERY)
def overrides_the_methods_that_call(traced, *values):
    found = []

    def looking(name):
        def method(self, *step):
            value = getattr(fx.Interpreter, name)(self, *step)
            found.extend([self.node.name] if holds_nan(value) else [])
            return value

        return method

    class Calling(fx.Interpreter):
        call_function, call_method, call_module = map(looking, ("call_function", "call_method", "call_module"))

        def run_node(self, node):
            self.node = node
            return super().run_node(node)

    Calling(traced).run(*values)
    return found[0] if found else None


@breaks("whose value holds nan.", case="infinities of both signs, and nan that nothing uses")
@wrong("nan_found", says="the answer is `truediv`, but the value of this node contains no nan", read=EVERY)
def tests_the_sum_of_each_value(traced, *values):
    def sums_to_nan(value):
        if isinstance(value, (tuple, list)):
            return any(map(sums_to_nan, value))
        return torch.is_tensor(value) and bool(value.sum().isnan())

    return found_by(traced, values, sums_to_nan)


@breaks("or a tuple", case="nan in one of a node's two results")
@wrong("nan_found", says="the answer is `getitem_1`, but the value of an earlier node, `sign_and_log`", read=EVERY)
def looks_at_tensors_only(traced, *values):
    return found_by(traced, values, lambda value: torch.is_tensor(value) and bool(value.isnan().any()))


@breaks("or list of tensors.", case="nan in a list")
@wrong("nan_found", says="the answer is `getitem`, but the value of an earlier node, `log_and_sign`", read=EVERY)
def looks_into_tuples_only(traced, *values):
    def holds(value):
        if isinstance(value, tuple):
            return any(map(holds, value))
        return torch.is_tensor(value) and bool(value.isnan().any())

    return found_by(traced, values, holds)


@breaks("Any other value, such as a number or `None`, counts as free of nan.", case="a number that is nan")
@wrong("nan_found", says="`sharpness`, but the value of this node contains no nan: it is not a tensor", read=EVERY)
def tests_numbers_too(traced, *values):
    return found_by(traced, values, lambda value: holds_nan(value) or (isinstance(value, float) and math.isnan(value)))


@breaks("the first node in the run", case="infinities of both signs, and nan that nothing uses")
@wrong("nan_found", says="the answer is None, but the value of node `sub` contains nan", read=EVERY)
def leaves_out_nodes_without_users(traced, *values):
    traced = copy.deepcopy(traced)
    traced.graph.eliminate_dead_code()
    return found_by(traced, values, holds_nan)


@breaks("Return the name", case="a mask that leaves out every row")
@wrong("nan_found", says="The answer is a node: return its name")
def returns_the_node(traced, *values):
    watching = Watching(traced, holds_nan)
    watching.run(*values)
    return watching.first


@breaks("If there is none, return `None`.", case="a mask that leaves out one row")
@wrong("nan_found", says="The answer is `softmax`, but the value of this node contains no nan", read=EVERY)
def always_names_the_softmax(traced, *values):
    return "softmax"


@wrong("input_unchanged", says="The model that was given has been changed: its graph was edited, at node `output`")
def makes_the_graph_return_each_value_in_turn(traced, *values):
    output = traced.graph.output_node()
    for node in list(traced.graph.nodes):
        if node is not output:
            output.args = (node,)
        traced.recompile()
        if holds_nan(traced(*values)):
            return node.name
    return None


@breaks("whose value holds nan.", case="nan in a parameter")
@wrong("nan_found", says="the answer is None, but the value of node `factor` contains nan", read=EVERY)
def looks_at_one_dtype_only(traced, *values):
    def holds(value):
        if isinstance(value, (tuple, list)):
            return any(map(holds, value))
        return torch.is_tensor(value) and value.dtype == torch.float32 and bool(value.isnan().any())

    return found_by(traced, values, holds)


@wrong("ends well", says="KeyError: sharpness. In this run the input `sharpness` gets no value: it takes its default.")
def expects_a_value_for_each_input(traced, *values):
    inputs = traced.graph.find_nodes(op="placeholder")
    given = dict(zip(inputs, values, strict=False))
    for node in inputs:
        if holds_nan(given[node]):
            return node.name
    watching = Watching(traced, holds_nan)
    watching.run(*values)
    return watching.first
