"""Graphs on which a pass raises an error because one call uses another, and a function that runs this pass."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.running import listing
from fxbook.graph.naming import target_name

from ..cases import WIDTH, bert, change_of, gpt2, graph_of

# The function that some nodes call after the pass has edited them.
MADE_BY_THE_PASS = torch.neg


class Gate(nn.Module):
    """Two branches that are multiplied, and a residual connection."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.mix = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.requires_grad_(False)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        opened = torch.sigmoid(self.open(x)) + mask
        mixed = torch.softmax(self.mix(x).abs(), dim=-1)
        return torch.clamp(opened * mixed, -1, 1) - x


class Gated(nn.Module):
    """A product whose second factor is a chain with a ReLU in the middle."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(WIDTH, WIDTH).requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.sigmoid(torch.relu(torch.tanh(x)))
        return torch.exp(self.mix(x).abs()) * gate - x


class Joined(nn.Module):
    """Calls that take their inputs in a list or by keyword, before and after the two calls that are needed.

    To remove either of the last two calls, its users must use its last input. The node before the first call is an
    input of the module that nothing uses.
    """

    def forward(self, x: Tensor, mask: Tensor, unread: Tensor) -> Tensor:
        joined = torch.cat([x, mask])
        negated = torch.neg(input=joined)
        turned = torch.relu(negated)
        angle = torch.atan2(input=turned, other=joined)
        grown = torch.addcmul(input=joined, tensor1=angle, tensor2=negated)
        return torch.cat([x, mask, torch.add(input=turned, other=grown)])


class After(nn.Module):
    """A subtraction: the first operand is the module's input, and the second is computed from a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(WIDTH), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(torch.sub(x, torch.exp(torch.abs(self.scale))))


class Bare(nn.Module):
    """Two calls."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(torch.exp(x), dim=-1)


def _is_call(node: fx.Node) -> bool:
    return node.op.startswith("call")


def _spared(node: fx.Node, relu: fx.Node) -> bool:
    """Whether the pass ignores a call, because it uses this ReLU or the ReLU uses an input of the module."""
    return relu in node.all_input_nodes or any(value.op == "placeholder" for value in relu.all_input_nodes)


def raising_pass(first: Any, second: Any) -> Callable[[fx.GraphModule], bool]:
    """``fails`` for a pass that edits its module, and raises an error if a call to ``second`` uses a call to ``first``.

    Calls that are ``_spared`` raise no error.
    """

    def fails(module: fx.GraphModule) -> bool:
        if not isinstance(module, fx.GraphModule):
            raise TypeError(f"`fails` was called with an object of class {type(module).__name__}")
        try:
            module.graph.lint()
        except Exception:
            return False
        made = set()
        relus = module.graph.find_nodes(op="call_function", target=torch.relu)
        try:
            for node in module.graph.nodes:
                spared = any(_spared(node, relu) for relu in relus)
                if _is_call(node) and node.target == second and made & set(node.all_input_nodes) and not spared:
                    raise KeyError(node.name)
                if _is_call(node) and node.target == first:
                    made.add(node)
                    node.op, node.target, node.kwargs = "call_function", MADE_BY_THE_PASS, {}
        except KeyError:
            return True
        return False

    return fails


def reported(model: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer: the traced model, and ``fails`` for a randomly chosen pair of calls."""
    module = graph_of(model)
    pairs = [
        (value.target, node.target)
        for node in module.graph.nodes
        for value in node.all_input_nodes
        if _is_call(node) and _is_call(value) and node.target != value.target
    ]
    return module, raising_pass(*pairs[int(torch.randint(len(pairs), ()))])


def reported_of(first: Any, second: Any) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Like ``reported``, but for a given pair of calls."""
    return lambda model: (graph_of(model), raising_pass(first, second))


def with_an_unused_range(model: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer; the traced model has a call that uses nothing and that nothing uses."""
    module = graph_of(model)
    with module.graph.inserting_before(module.graph.output_node()):
        module.graph.call_function(torch.arange, (WIDTH,))
    module.recompile()
    return module, raising_pass(torch.exp, torch.softmax)


def _needed(module: fx.GraphModule, node: fx.Node, place: int) -> fx.GraphModule:
    """A copy of the module in which one input of a call replaces the call, without nodes that are then unused."""
    stands_for = {node: node.all_input_nodes[place]}
    needed = {module.graph.output_node(), *module.graph.find_nodes(op="placeholder")}
    for other in reversed(module.graph.nodes):
        if other in needed:
            needed |= {stands_for.get(used, used) for used in other.all_input_nodes}
    graph = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {}
    for other in module.graph.nodes:
        if other in needed:
            copies[other] = graph.node_copy(other, lambda used: copies[stands_for.get(used, used)])
    return fx.GraphModule(module, graph)


def calls_of(graph: fx.Graph) -> dict[str, list[str]]:
    """For each call, by name: what it calls, and its arguments without the nodes among them."""
    return {
        node.name: [f"{node.op} {target_name(node)}", str(fx.node.map_arg((node.args, node.kwargs), lambda _: None))]
        for node in graph.nodes
        if _is_call(node)
    }


def used_by(graph: fx.Graph) -> dict[str, list[str]]:
    """For each call and for ``output``, by name: the names of its input nodes."""
    users = (node for node in graph.nodes if _is_call(node) or node.op == "output")
    return {node.name: [used.name for used in node.all_input_nodes] for node in users}


def inputs_of(graph: fx.Graph) -> list[str]:
    """The names of the placeholders."""
    return [node.name for node in graph.find_nodes(op="placeholder")]


def removable(module: fx.GraphModule, fails: Callable[[fx.GraphModule], bool]) -> str | None:
    """The name of a call without which the pass still raises an error; ``None`` if there is none."""
    for node in module.graph.nodes:
        places = range(len(node.all_input_nodes)) if _is_call(node) else ()
        if any(fails(_needed(module, node, place)) for place in places):
            return node.name
    return None


def unused(graph: fx.Graph) -> str | None:
    """The name of a call without users; ``None`` if there is none."""
    return next((node.name for node in graph.nodes if _is_call(node) and not node.users), None)


def shrunk(answer: Callable[..., Any], module: fx.GraphModule, fails: Callable[[fx.GraphModule], bool]) -> Any:
    """Facts about the module that the answer returns: its calls, whether it still fails, and which call can still go.

    Raises:
        Exception: whatever the answer raises.
    """
    before = listing(module.graph)
    result = answer(module, fails)
    facts: dict[str, Any] = {"kind": type(result).__name__, "changed": change_of(before, listing(module.graph))}
    if not isinstance(result, fx.GraphModule):
        return facts
    facts |= {"kind": "GraphModule", "calls": calls_of(result.graph), "inputs": inputs_of(result.graph)}
    facts["fails"] = fails(copy.deepcopy(result))
    facts["stale"] = result.code != result.graph.python_code("self").src
    facts |= {"unused": unused(result.graph), "uses": used_by(result.graph)}
    return {**facts, "removable": removable(result, fails) if facts["fails"] else None}


USAGE = Usage(
    "compute",
    cases=(
        Case("the activation of GPT-2", lambda: gpt2().act, tuple),
        Case("a block of BERT", bert, tuple),
        Case("two branches that meet", Gate, tuple, unseen=True),
        Case(
            "a call that can be removed once others are gone", Gated, tuple, True, reported_of(torch.exp, operator.mul)
        ),
        Case("inputs in a list and by keyword", Joined, tuple, True, reported_of(torch.atan2, torch.addcmul)),
        Case("an input as the argument before the needed call", After, tuple, True, reported_of(torch.exp, torch.sub)),
        Case("two calls, and a call that nothing uses", Bare, tuple, unseen=True, given=with_an_unused_range),
    ),
    given=reported,
    call=shrunk,
)
