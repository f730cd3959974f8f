"""A traced module, a copy that a pass has edited, correctly or not, and inputs for both."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of
from fxbook.cases.running import listing

from ..cases import WIDTH, bert, change_of, gpt2, graph_of, rows

Edit = Callable[[fx.GraphModule], None]
# For each function, another function that computes something else from the same arguments.
_OTHERS = {operator.mul: operator.add, operator.add: operator.mul}
_METHODS = {torch.tanh: "tanh", torch.pow: "pow"}


def one_wrong_call(module: fx.GraphModule) -> None:
    """A randomly chosen call computes something else; calls to ``tanh`` and ``pow`` become method calls."""
    for target, method in _METHODS.items():
        for node in module.graph.find_nodes(op="call_function", target=target):
            node.op, node.target = "call_method", method
    calls = [
        node
        for node in module.graph.nodes
        if node.op == "call_function" and node.target in _OTHERS and not any(type(arg) is tuple for arg in node.args)
    ]
    place = calls[int(torch.randint(len(calls), ()))]
    place.target = _OTHERS[place.target]


def _apply(module: fx.GraphModule, node: fx.Node, function: Callable[..., Any], other: float) -> None:
    """Let the users of a node use a new call instead: to ``function``, with the node and ``other`` as arguments."""
    with module.graph.inserting_after(node):
        new = module.graph.call_function(function, (node, other))
    node.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)


def several_wrong(module: fx.GraphModule) -> None:
    """Two new nodes, whose rounding differs, replace a sum; and the result is multiplied by a wrong factor."""
    [total] = module.graph.find_nodes(op="call_function", target=operator.add)
    with module.graph.inserting_before(total):
        turned = module.graph.call_function(operator.add, total.args[::-1])
        slightly = module.graph.call_function(operator.mul, (turned, 1.0 + 2.0**-22))
    total.replace_all_uses_with(slightly)
    module.graph.erase_node(total)
    _apply(module, module.graph.output_node().all_input_nodes[0], operator.mul, one_of(2, 3))


def another_weight(module: fx.GraphModule) -> None:
    """A weight has different values."""
    next(module.parameters()).data.add_(1)


def another_shape(module: fx.GraphModule) -> None:
    """The first product has one more dimension, with the same numbers."""
    left, _ = module.graph.find_nodes(op="call_function", target=torch.mul)
    with module.graph.inserting_before(left):
        left.update_arg(0, module.graph.call_method("unsqueeze", (left.args[0], 0)))


class Accumulating(nn.Module):
    """Writes into a value after another node has split it; returns a list in a dict in a tuple."""

    def forward(self, x: Tensor, y: Tensor) -> Any:
        total = x.exp()
        doubled = total * 2
        parts = total.split(WIDTH // 2, dim=-1)
        total.add_(y, alpha=1)
        first = parts[0] + total.size(0)
        return first, {"doubled": doubled, "parts": [parts[1]]}


class Results(nn.Module):
    """Returns a dict with the results of two branches and a number."""

    def forward(self, x: Tensor, y: Tensor) -> Any:
        left = torch.mul(x, 0.5)
        right = torch.mul(y, 0.25)
        return {"left": left, "right": right, "count": x.numel() * 2}


def slightly_and_turned(module: fx.GraphModule) -> None:
    """Both products are wrong by a thousandth, and their order in the list is reversed."""
    left, right = module.graph.find_nodes(op="call_function", target=torch.mul)
    for node in (left, right):
        node.update_arg(1, node.args[1] * 1.001)
    left.prepend(right)


def shifted_by_rounding(module: fx.GraphModule) -> None:
    """A new node adds so little to the first result that `assert_close` accepts the result, even near 0."""
    left, _ = module.graph.find_nodes(op="call_function", target=torch.mul)
    _apply(module, left, operator.add, 1e-6)


def another_second_result(module: fx.GraphModule) -> None:
    """A new node changes only the second result."""
    _, right = module.graph.find_nodes(op="call_function", target=torch.mul)
    _apply(module, right, operator.mul, 2)


def another_dtype(module: fx.GraphModule) -> None:
    """The second result has the same values in double precision."""
    result = module.graph.output_node()
    with module.graph.inserting_before(result):
        doubled = module.graph.call_method("double", (result.args[0]["right"],))
        result.args = ({**result.args[0], "right": doubled},)


def another_key(module: fx.GraphModule) -> None:
    """The output has the same results, one of them under another key."""
    output = module.graph.output_node()
    output.args = ({{"right": "other"}.get(key, key): value for key, value in output.args[0].items()},)


def another_kind(module: fx.GraphModule) -> None:
    """The output is a tuple with only the first result."""
    output = module.graph.output_node()
    output.args = ((output.args[0]["left"],),)


def another_write(module: fx.GraphModule) -> None:
    """The in-place write has a different factor."""
    [write] = module.graph.find_nodes(op="call_method", target="add_")
    write.kwargs = {"alpha": one_of(2, 3)}


def edited(edit: Edit, count: int = 1) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the arguments of the answer: the traced model, an edited copy of it, and ``count`` inputs."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        before = graph_of(model)
        after = copy.deepcopy(before)
        edit(after)
        after.graph.lint()
        after.recompile()
        widths = [WIDTH] * count if count == 1 or isinstance(model, Accumulating) else [64, WIDTH]
        return before, after, *rows(*widths)()

    return given


def with_changes(answer: Callable[..., Any], before: fx.GraphModule, after: fx.GraphModule, *inputs: Tensor) -> Any:
    """What the answer returns, the first node that it has changed, and whether it has written into an input."""
    graphs = [listing(before.graph), listing(after.graph)]
    copies = [value.clone() for value in inputs]
    returned = answer(before, after, *inputs)
    changed = next(filter(None, map(change_of, graphs, [listing(before.graph), listing(after.graph)])), None)
    written = any(not torch.equal(value, old) for value, old in zip(inputs, copies, strict=True))
    return {"returned": returned, "changed": changed, "written": written}


USAGE = Usage(
    "compute",
    cases=(
        Case("a block of GPT-2 with one wrong call", gpt2, tuple, given=edited(one_wrong_call)),
        Case("a block of BERT with rounding and a wrong factor", bert, tuple, given=edited(several_wrong, 2)),
        Case("a value written in place", Accumulating, tuple, unseen=True, given=edited(another_write, 2)),
        Case("each branch wrong by a thousandth", Results, tuple, unseen=True, given=edited(slightly_and_turned, 2)),
        Case("a different second result", Results, tuple, unseen=True, given=edited(another_second_result, 2)),
        Case("a different dtype", Results, tuple, unseen=True, given=edited(another_dtype, 2)),
        Case("a different key", Results, tuple, unseen=True, given=edited(another_key, 2)),
        Case("a tuple of the result", Results, tuple, unseen=True, given=edited(another_kind, 2)),
        Case("a different shape", Results, tuple, unseen=True, given=edited(another_shape, 2)),
        Case("a different weight", gpt2, tuple, unseen=True, given=edited(another_weight)),
        Case("rounding near 0", Results, tuple, unseen=True, given=edited(shifted_by_rounding, 2)),
    ),
    call=with_changes,
)
