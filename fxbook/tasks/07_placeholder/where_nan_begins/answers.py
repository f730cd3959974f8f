"""Answers to 07-where-nan-begins: the first node whose value holds nan."""

import torch
from torch import fx

from fxbook.tasks.answering import right, wrong

EVERY = "07_placeholder#every-node-takes-the-same-way"


def holds_nan(value):
    if isinstance(value, (tuple, list)):
        return any(map(holds_nan, value))
    return isinstance(value, torch.Tensor) and bool(value.isnan().any())


class Watching(fx.Interpreter):
    """Remembers the first node for which its test holds."""

    def __init__(self, traced, test=holds_nan):
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
def writes_the_loop_out(traced, *values):
    runner = fx.Interpreter(traced)
    runner.args_iter, runner.env = iter(values), {}
    for node in traced.graph.nodes:
        runner.env[node] = runner.run_node(node)
        if holds_nan(runner.env[node]):
            return node.name
    return None


@right
def stops_the_run_by_an_error(traced, *values):
    class FoundError(Exception):
        pass

    class Stopping(fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            if holds_nan(value):
                raise FoundError(node.name)
            return value

    stopping = Stopping(traced)
    stopping.extra_traceback = False
    try:
        stopping.run(*values)
    except FoundError as found:
        return str(found)


@right
class ComparesWithItself:
    """nan is not equal to itself; an unpacked value is looked at item by item."""

    def __call__(self, traced, *values):
        return found_by(traced, values, self.holds)

    def holds(self, value):
        match value:
            case torch.Tensor():
                return bool((value != value).any())
            case list() | tuple():
                return any(self.holds(item) for item in value)


# ---- wrong -----------------------------------------------------------------------------------------------------------


@wrong("nan_found", says="`output` was returned: the value of `softmax`, before it, holds nan already", read=EVERY)
def looks_at_the_environment_of_an_ordinary_run(traced, *values):
    runner = fx.Interpreter(traced)
    runner.run(*values)
    return next((node.name for node, value in runner.env.items() if holds_nan(value)), None)


@wrong(
    "nan_found",
    says="(a step that works in place): `add` was returned: the value of this node holds no nan",
    read=EVERY,
)
def keeps_every_value_to_the_end(traced, *values):
    runner = fx.Interpreter(traced, garbage_collect_values=False)
    runner.run(*values)
    return next((node.name for node, value in runner.env.items() if holds_nan(value)), None)


@wrong(
    "nan_found",
    says="(nan in a parameter): `mul` was returned: the value of `factor`, before it, holds nan",
    read=EVERY,
)
def looks_at_steps_and_inputs_only(traced, *values):
    class Stepping(Watching):
        def run_node(self, node):
            value = fx.Interpreter.run_node(self, node)
            if node.op != "get_attr" and self.first is None and holds_nan(value):
                self.first = node
            return value

    stepping = Stepping(traced)
    stepping.run(*values)
    return stepping.first and stepping.first.name


@wrong(
    "nan_found", says="(nan in an input): `score` was returned: the value of `rows`, before it, holds nan", read=EVERY
)
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


@wrong(
    "nan_found",
    says="(infinities of both signs, and no nan): `truediv` was returned: the value of this node holds no nan",
    read=EVERY,
)
def adds_up_and_asks_once(traced, *values):
    def sums_to_nan(value):
        if isinstance(value, (tuple, list)):
            return any(map(sums_to_nan, value))
        return torch.is_tensor(value) and bool(value.sum().isnan())

    return found_by(traced, values, sums_to_nan)


@wrong("nan_found", says="`mask` was returned: the value of this node holds no nan", read=EVERY)
def takes_infinity_for_nan(traced, *values):
    return found_by(traced, values, lambda value: torch.is_tensor(value) and not value.isfinite().all())


@wrong(
    "nan_found",
    says="(nan in one of two results of a node): `getitem_1` was returned: the value of `sign_and_log`",
    read=EVERY,
)
def looks_at_tensors_only(traced, *values):
    return found_by(traced, values, lambda value: torch.is_tensor(value) and bool(value.isnan().any()))


@wrong("nan_found", says="(nan in a list): `getitem` was returned: the value of `log_and_sign`, before it", read=EVERY)
def looks_into_tuples_only(traced, *values):
    def holds(value):
        if isinstance(value, tuple):
            return any(map(holds, value))
        return torch.is_tensor(value) and bool(value.isnan().any())

    return found_by(traced, values, holds)


@wrong("nan_found", says="The answer is a node: its name was asked")
def returns_the_node(traced, *values):
    watching = Watching(traced)
    watching.run(*values)
    return watching.first


@wrong("nan_found", says="`output` was returned: the value of `softmax`, before it, holds nan already", read=EVERY)
def remembers_the_last(traced, *values):
    class Last(fx.Interpreter):
        name = None

        def run_node(self, node):
            value = super().run_node(node)
            self.name = node.name if holds_nan(value) else self.name
            return value

    last = Last(traced)
    last.run(*values)
    return last.name


@wrong("nan_found", says="`softmax` was returned: the value of this node holds no nan", read=EVERY)
def knows_the_node(traced, *values):
    return "softmax"


@wrong("ends well", says="Your code raises AttributeError: 'float' object has no attribute 'isnan'")
def asks_every_value(traced, *values):
    return found_by(traced, values, lambda value: bool(value.isnan().any()))


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
