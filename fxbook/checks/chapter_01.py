"""What the exercises of chapter 01 ask: nodes made by hand, of every opcode, with arguments of every kind."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx, nn

from fxbook.checks import Case, CaseView, Exercise, Violation, eager
from fxbook.checks.predicates import (
    configurable,
    edited,
    every_node,
    has_node,
    lints,
    no_dead_nodes,
    opcodes,
    placeholders,
    recompiled,
    same_result,
    shares_weights,
)
from fxbook.record import JSON, NodeRecord

SIX = ("placeholder", "get_attr", "call_function", "call_module", "call_method", "output")


class ShiftedNorm(nn.Module):
    """``norm(x + bias).tanh()``."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(width))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x + self.bias).tanh()


class RotateHalf(nn.Module):
    """The second half of four columns, negated, before the first."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([-x[..., 2:], x[..., :2]], dim=-1)


class Residual(nn.Module):
    """A block that adds in the three spellings of the chapter, and does other things besides."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.bias = nn.Parameter(torch.randn(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.add(self.inner(x), self.bias)
        hidden = (torch.relu(hidden) * 2).add(x)
        return hidden + x - 1


class Sum(nn.Module):
    """A module that computes a sum, to be called under the path ``add``."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


class ManySums(nn.Module):
    """Additions in place, by keyword and with ``alpha``, and nodes that only look like additions."""

    def __init__(self) -> None:
        super().__init__()
        self.add = Sum()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scaled = torch.add(x, x, alpha=2)
        plain = torch.add(scaled, x, alpha=1)
        named = torch.add(input=plain, other=x)
        called = self.add(named, x)
        placed = called.clone().add_(x)
        weighted = placed.add(x, alpha=3)
        return 1 + weighted.sub(x)


def many_sums(model: nn.Module) -> tuple[fx.GraphModule]:
    """``ManySums`` with its submodule kept whole, one ``+=`` and one misleading name."""

    class Whole(fx.Tracer):
        def is_leaf_module(self, module: nn.Module, path: str) -> bool:
            return isinstance(module, Sum)

    graph = Whole().trace(model)
    output = graph.output_node()
    with graph.inserting_before(output):
        doubled = graph.call_function(operator.iadd, (output.args[0], 1))
        result = graph.call_function(torch.mul, (doubled, 2), name="add_total")
    output.args = (result,)
    return (fx.GraphModule(model, graph),)


@configurable
def finds(case: CaseView, additions: dict[str, tuple[str, ...]]) -> Violation | None:
    """The answer is the list of the nodes that add, which ``additions`` names for each case."""
    wanted, listed = additions[case.case.name], case.value
    nodes = listed.get("tuple") if isinstance(listed, dict) else listed
    if not isinstance(nodes, list) or not all(isinstance(item, dict) and "node" in item for item in nodes):
        return Violation("The answer is not a list of nodes.")
    found = [item["node"] for item in nodes]
    for node in case.before:
        if (node.name in found) != (node.name in wanted):
            said = "is an addition, and not in the list" if node.name in wanted else "is in the list, and no addition"
            return Violation(f"Node `{node.name}`, a `{node.op}` of `{node.call}`, {said}.")
    if found != [node.name for node in case.before if node.name in wanted]:
        return Violation("The list holds the right nodes, not each once and in graph order.")
    return None


class ScaleAndShift(nn.Module):
    """``x * 2 + [1, 2, 3]``."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 + torch.tensor([1.0, 2.0, 3.0])


def scale_and_shift_by_hand(model: nn.Module) -> tuple[fx.GraphModule]:
    """``ScaleAndShift`` as a graph with tensors for arguments."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    scaled = graph.call_function(torch.mul, (x, torch.tensor(2.0)))
    graph.output(graph.call_function(torch.add, (scaled, torch.tensor([1.0, 2.0, 3.0]))))
    return (fx.GraphModule({}, graph),)


class Padded(nn.Module):
    """A column of constants on each side, a floor, then an affine map of the module's own."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("constant_0", torch.randn(5))
        self._tensor_constant0 = nn.Parameter(torch.randn(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        padded = torch.cat([torch.zeros(2, 1), x, torch.full((2, 1), 7.0)], dim=1)
        floored = torch.clamp(padded, min=torch.tensor(-0.5))
        return floored * self.constant_0 + self._tensor_constant0


def padded_by_hand(model: nn.Module) -> tuple[fx.GraphModule]:
    """``Padded`` as a graph with tensors in a list and in a keyword."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    padded = graph.call_function(torch.cat, ([torch.zeros(2, 1), x, torch.full((2, 1), 7.0)],), {"dim": 1})
    floored = graph.call_function(torch.clamp, (padded,), {"min": torch.tensor(-0.5)})
    scaled = graph.call_function(torch.mul, (floored, graph.get_attr("constant_0")))
    graph.output(graph.call_function(torch.add, (scaled, graph.get_attr("_tensor_constant0"))))
    return (fx.GraphModule(model, graph),)


def no_tensor_argument(node: NodeRecord) -> str | None:
    """No tensor stands among the arguments, at any depth."""
    if _holds_tensor(node.args) or _holds_tensor(node.kwargs):
        return f"Node `{node.name}` has a tensor among its arguments: `{node.call}`."
    return None


def _holds_tensor(value: JSON) -> bool:
    match value:
        case {"constant": "Tensor" | "Parameter" | "Buffer"}:
            return True
        case dict():
            return any(map(_holds_tensor, value.values()))
        case list():
            return any(map(_holds_tensor, value))
        case _:
            return False


def fetches_weights(case: CaseView) -> Violation | None:
    """Each ``get_attr`` fetches a parameter or a buffer of the result, so that ``state_dict`` holds it."""
    for node in case.nodes:
        if node.op == "get_attr" and case.shared and node.target not in case.shared:
            return Violation(
                f"Node `{node.name}` fetches `{node.target}`, which is neither a parameter nor a buffer.", node.index
            )
    if not case.shared and (fetch := next((node for node in case.nodes if node.op == "get_attr"), None)):
        return Violation(f"Node `{fetch.name}` fetches `{fetch.target}`: the module has no buffer.", fetch.index)
    return None


def no_module_called(node: NodeRecord) -> str | None:
    """The node calls no module."""
    return f"Node `{node.name}` calls the module `{node.target}`." if node.op == "call_module" else None


def keeps_names(case: CaseView) -> Violation | None:
    """The parameters of the result have the names that they have in the model."""
    given = set(dict(case.model.named_parameters(remove_duplicate=False)))
    found = set(case.shared)
    if extra := sorted(found - given):
        return Violation(f"The result has a parameter `{extra[0]}`, which the model does not have.")
    if missing := sorted(given - found):
        return Violation(f"The result has no parameter `{missing[0]}`: the model's checkpoint does not load.")
    return None


def mlp() -> nn.Module:
    """Linear, norm, activation, linear."""
    return nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6, eps=0.1), nn.LeakyReLU(0.3), nn.Linear(6, 2))


def nested() -> nn.Module:
    """Blocks within blocks, a layer without a bias, a norm without weights, and a layer that stands twice."""
    shared = nn.Linear(4, 4)
    block = nn.Sequential(shared, nn.LeakyReLU(0.5), nn.Sequential(nn.Linear(4, 4, bias=False), nn.LeakyReLU(0.01)))
    return nn.Sequential(
        nn.LayerNorm(4, elementwise_affine=False), block, shared, nn.LayerNorm(4, eps=0.01, bias=False)
    )


def trained(model: nn.Module) -> nn.Module:
    """The model with random parameters: fresh norms are all ones and zeros, which would hide a mistake."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape))
    return model


def rows(width: int, count: int = 3) -> Any:
    """A function that draws a batch of ``count`` rows."""
    return lambda: (torch.randn(count, width),)


EXERCISES = (
    Exercise(
        id="01-six-opcodes",
        use="build",
        given=eager,
        cases=(
            Case("the shifted norm", lambda: trained(ShiftedNorm(4)), rows(4)),
            Case("a wider one", lambda: trained(ShiftedNorm(7)), rows(7, 2), unseen=True),
        ),
        properties=(lints, placeholders("x"), same_result, opcodes(*SIX), no_dead_nodes),
    ),
    Exercise(
        id="01-rotate-half",
        use="build",
        cases=(Case("rotation", RotateHalf, lambda: (torch.randn(2, 3, 4),)),),
        properties=(lints, placeholders("x"), same_result, no_dead_nodes),
    ),
    Exercise(
        id="01-linear-apart",
        use="build",
        given=eager,
        cases=(
            Case("a linear layer", lambda: nn.Linear(4, 3), rows(4)),
            Case("a linear layer without a bias", lambda: nn.Linear(5, 2, bias=False), rows(5), unseen=True),
        ),
        properties=(
            lints,
            recompiled,
            every_node(no_module_called),
            same_result,
            has_node("get_attr"),
            shares_weights,
            no_dead_nodes,
        ),
        returns=("GraphModule",),
    ),
    Exercise(
        id="01-find-adds",
        use="compute",
        given=lambda model: (fx.symbolic_trace(model),),
        cases=(
            Case("the residual block", Residual, rows(4)),
            Case("the block of many sums", ManySums, rows(4), unseen=True, given=many_sums),
        ),
        properties=(
            finds(
                {
                    "the residual block": ("add", "add_1", "add_2"),
                    "the block of many sums": ("add_1", "add_2", "add_", "add_5", "iadd"),
                }
            ),
        ),
    ),
    Exercise(
        id="01-lift-constants",
        use="edit",
        given=scale_and_shift_by_hand,
        cases=(
            Case("the scale and shift", ScaleAndShift, rows(3)),
            Case("the padded rows", Padded, rows(3, 2), unseen=True, given=padded_by_hand),
        ),
        properties=(
            every_node(no_tensor_argument),
            lints,
            recompiled,
            same_result,
            fetches_weights,
            no_dead_nodes,
            edited,
        ),
    ),
    Exercise(
        id="01-unroll-sequential",
        use="pass",
        cases=(
            Case("the MLP", lambda: trained(mlp()), rows(4)),
            Case("the nested model", lambda: trained(nested()), rows(4), unseen=True),
        ),
        properties=(
            lints,
            recompiled,
            every_node(no_module_called),
            same_result,
            opcodes("placeholder", "get_attr", "call_function", "output"),
            shares_weights,
            keeps_names,
            no_dead_nodes,
        ),
    ),
)
