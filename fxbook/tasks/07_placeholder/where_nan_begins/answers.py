"""Answers to 07-where-nan-begins: the first node whose value holds nan."""

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
    """Remembers the first node for which its test holds."""

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


# ---- right -----------------------------------------------------------------------------------------------------------


@right
class ComparesWithItself:
    def __call__(self, traced, *values):
        return found_by(traced, values, self.holds)

    def holds(self, value):
        match value:
            case torch.Tensor():
                return bool((value != value).any())
            case list() | tuple():
                return any(self.holds(item) for item in value)


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
def asks_in_a_copy_of_the_graph(traced, *values):
    found = []

    def ask(name, value):
        found.extend([name] if holds_nan(value) else [])

    asking = copy.deepcopy(traced)
    for node in list(asking.graph.nodes):
        if node.op != "output":
            with asking.graph.inserting_after(node):
                asking.graph.call_function(ask, (node.name, node))
    fx.Interpreter(asking).run(*values)
    return found[0] if found else None


@right
def notes_all_and_looks_afterwards(traced, *values):
    noted = {}

    class Noting(fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            tensors = [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
            noted[node.name] = sum(int(torch.isnan(tensor).sum()) for tensor in tensors)
            return value

    Noting(traced).run(*values)
    return next((name for name, count in noted.items() if count), None)


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks(
    "Look at each value as its node computed it:",
    "a later in-place step may change it.",
    case="a step that works in place",
)
@wrong(
    "nan_found",
    says="(a step that works in place): the answer is `add`, but the value of this node holds no nan",
    read=EVERY,
)
def keeps_every_value_to_the_end(traced, *values):
    runner = fx.Interpreter(traced, garbage_collect_values=False)
    runner.run(*values)
    return next((node.name for node, value in runner.env.items() if holds_nan(value)), None)


@breaks("the first node of the run", case="nan in an input")
@wrong("nan_found", says="(nan in an input): the answer is `score`, but the value of `rows`", read=EVERY)
def replaces_the_methods_of_the_steps(traced, *values):
    first = []

    class Calling(fx.Interpreter):
        def look(self, value):
            first.extend([self.node.name] if holds_nan(value) else [])
            return value

        def run_node(self, node):
            self.node = node
            return super().run_node(node)

        def call_function(self, *step):
            return self.look(super().call_function(*step))

        def call_method(self, *step):
            return self.look(super().call_method(*step))

        def call_module(self, *step):
            return self.look(super().call_module(*step))

    Calling(traced).run(*values)
    return first[0] if first else None


@breaks("whose value holds nan.", case="infinities of both signs, and nan without users")
@wrong(
    "nan_found",
    says="(infinities of both signs, and nan without users): the answer is `truediv`, but the value of this",
    read=EVERY,
)
def adds_up_and_asks_once(traced, *values):
    def sums_to_nan(value):
        if isinstance(value, (tuple, list)):
            return any(map(sums_to_nan, value))
        return torch.is_tensor(value) and bool(value.sum().isnan())

    return found_by(traced, values, sums_to_nan)


@breaks("or a tuple", case="nan in one of two results of a node")
@wrong(
    "nan_found",
    says="(nan in one of two results of a node): the answer is `getitem_1`, but the value of `sign_and_log`",
    read=EVERY,
)
def looks_at_tensors_only(traced, *values):
    return found_by(traced, values, lambda value: torch.is_tensor(value) and bool(value.isnan().any()))


@breaks("or list of tensors.", case="nan in a list")
@wrong("nan_found", says="(nan in a list): the answer is `getitem`, but the value of `log_and_sign`", read=EVERY)
def looks_into_tuples_only(traced, *values):
    def holds(value):
        if isinstance(value, tuple):
            return any(map(holds, value))
        return torch.is_tensor(value) and bool(value.isnan().any())

    return found_by(traced, values, holds)


@breaks("Any other value, such as a number or `None`, counts as free of nan.", case="a number that is nan")
@wrong(
    "nan_found",
    says="(a number that is nan): the answer is `sharpness`, but the value of this node holds no nan: it",
    read=EVERY,
)
def asks_numbers_too(traced, *values):
    return found_by(traced, values, lambda value: holds_nan(value) or (isinstance(value, float) and math.isnan(value)))


@breaks("the first node of the run", case="infinities of both signs, and nan without users")
@wrong("nan_found", says="the answer is None, but the value of node `sub` holds nan", read=EVERY)
def leaves_out_what_has_no_users(traced, *values):
    traced = copy.deepcopy(traced)
    traced.graph.eliminate_dead_code()
    return found_by(traced, values, holds_nan)


@breaks("Return the name", case="a mask that keeps no row")
@wrong("nan_found", says="The answer is a node: return its name")
def returns_the_node(traced, *values):
    watching = Watching(traced, holds_nan)
    watching.run(*values)
    return watching.first


@breaks("If there is none, return `None`.", case="a mask that keeps some rows")
@wrong("nan_found", says="The answer is `softmax`, but the value of this node holds no nan", read=EVERY)
def knows_the_node(traced, *values):
    return "softmax"


@wrong("input_unchanged", says="The model that was given has been changed: its graph was edited, at node `output`")
def returns_one_value_after_the_other(traced, *values):
    output = traced.graph.output_node()
    for node in list(traced.graph.nodes):
        if node is not output:
            output.args = (node,)
        traced.recompile()
        if holds_nan(traced(*values)):
            return node.name
    return None


@breaks("whose value holds nan.", case="nan in a parameter")
@wrong(
    "nan_found", says="(nan in a parameter): the answer is None, but the value of node `factor` holds nan", read=EVERY
)
def looks_at_one_dtype_only(traced, *values):
    def holds(value):
        if isinstance(value, (tuple, list)):
            return any(map(holds, value))
        return torch.is_tensor(value) and value.dtype == torch.float32 and bool(value.isnan().any())

    return found_by(traced, values, holds)
