"""Models, each with a pass that changes it or leaves it alone; the check finds out how model and result differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.nameless import nameless_model

from ..cases import rows

if torch.distributed.is_available():
    # torch.testing needs this import for its first comparison; it would take half of an answer's time limit.
    import torch.distributed.tensor

functional = nn.functional


class Pair(nn.Module):
    """A model that knows how a pass changes it."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.project(x)

    def draw(self) -> Tensor:
        """The tensor on which both modules run, with enough rows for some gradient to differ in its last digit."""
        return torch.randn(16, 4)

    def changed(self) -> fx.GraphModule:
        """The model as the pass leaves it."""
        traced = fx.symbolic_trace(self)
        self.change(traced.graph)
        traced.recompile()
        return traced

    def change(self, graph: fx.Graph) -> None:
        """The pass; here it does nothing."""

    def insert(self, graph: fx.Graph, value: fx.Node, function: Any, *arguments: Any) -> None:
        """Let the users of ``value`` use the result of ``function(value, *arguments)`` instead."""
        with graph.inserting_after(value):
            new = graph.call_function(function, (value, *arguments))
        value.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)


class Unchanged(Pair):
    """A model and its trace; one parameter is not used."""

    def __init__(self) -> None:
        super().__init__()
        self.spare = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.project(x)) + x


class Overwriting(Pair):
    """A model that writes into its input, as its trace does."""

    def forward(self, x: Tensor) -> Tensor:
        return self.project(x.mul_(2))


class Training(Pair):
    """A model and its trace in training mode, in which the model does more than in eval mode."""

    def forward(self, x: Tensor) -> Tensor:
        return self.project(x) * (2 if self.training else 1)


class InPlace(Pair):
    """A pass makes the last function that has the keyword ``inplace`` work in place."""

    def change(self, graph: fx.Graph) -> None:
        [node for node in graph.nodes if "inplace" in node.kwargs][-1].update_kwarg("inplace", True)


class SafelyInPlace(InPlace):
    """``celu`` works in place where it is safe, but by another formula: gradients differ in their last digits."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.celu(self.project(x), alpha=0.7) * x

    def draw(self) -> Tensor:
        """Numbers on which the gradients are close even for ``torch.allclose`` without an ``atol``."""
        changed = self.changed()
        while True:
            x = super().draw()
            if all(map(torch.allclose, _gradients_of_the_sum(changed, x), _gradients_of_the_sum(self, x))):
                return x


def _gradients_of_the_sum(module: nn.Module, x: Tensor) -> tuple[Tensor, ...]:
    leaf = x.clone().requires_grad_()
    with torch.enable_grad():
        return torch.autograd.grad(module(leaf * 1).sum(), [leaf, *module.parameters()])


class UsedOnce(InPlace):
    """``relu`` works in place on a value without other users."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.project(x)) + x


class UsedAgain(InPlace):
    """``relu`` works in place on a value that a later node uses too."""

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.project(x)
        return functional.relu(hidden) + hidden


class OverInput(InPlace):
    """``relu`` works in place on the input."""

    def forward(self, x: Tensor) -> Tensor:
        return self.project(functional.relu(x))


class KeptForBackward(InPlace):
    """``relu`` works in place on a value from which a gradient is computed."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(torch.sigmoid(self.project(x)))


class _StraightThrough(torch.autograd.Function):
    """Rounds, and passes the gradient on as if it had not."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return torch.round(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient


class LostBackward(Pair):
    """A function with its own gradient, which tracing loses."""

    def forward(self, x: Tensor) -> Tensor:
        return self.project(x) * _StraightThrough.apply(x)


class Detached(Pair):
    """A parameter that no longer gets a gradient."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.project.weight) + self.project.bias

    def change(self, graph: fx.Graph) -> None:
        [bias] = graph.find_nodes(op="get_attr", target="project.bias")
        self.insert(graph, bias, torch.detach)


class Raising(Pair):
    """The softmax is taken over a dimension that the value does not have."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.softmax(self.project(x), dim=1)

    def change(self, graph: fx.Graph) -> None:
        graph.output_node().args[0].update_kwarg("dim", 2)


class _PassedOn(torch.autograd.Function):
    """Returns its input, but reverses its gradient in the given dimensions and multiplies it by a factor."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dims: tuple[int, ...], factor: float) -> Tensor:
        ctx.dims, ctx.factor = dims, factor
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return gradient.flip(ctx.dims) * ctx.factor, None, None


def passed_on(x: Tensor, dims: tuple[int, ...], factor: float) -> Tensor:
    """``x``, with a gradient that is reversed in these dimensions and multiplied by ``factor``."""
    return _PassedOn.apply(x, dims, factor)


def inserted(function: Callable[..., Any], *arguments: Any, after_input: bool = False, times: int = 1) -> type[Pair]:
    """A kind of pair: the pass inserts a call to a function after the result, or after the input."""

    class Inserted(Pair):
        def forward(self, x: Tensor) -> Tensor:
            return self.project(x) * x

        def change(self, graph: fx.Graph) -> None:
            for _ in range(times):
                value = next(iter(graph.nodes)) if after_input else graph.output_node().args[0]
                self.insert(graph, value, function, *arguments)

    return Inserted


class Clipped(Pair):
    """The result of ReLU is clipped at six, on an input below six; the input plus one would exceed six."""

    least = 4.9

    def draw(self) -> Tensor:
        return self.least + torch.rand(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.project(functional.relu(x))

    def change(self, graph: fx.Graph) -> None:
        [node] = graph.find_nodes(op="call_function", target=functional.relu)
        node.target = functional.relu6


class ClippedMore(Clipped):
    """The result of ReLU is clipped at six, on an input above six; half the input would not be clipped."""

    least = 6.5


class ZeroGradient(Pair):
    """A parameter whose gradient is zero in the model, and missing in the changed module."""

    def __init__(self) -> None:
        super().__init__()
        self.spare = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.project(x) + self.spare * 0

    def change(self, graph: fx.Graph) -> None:
        addition = graph.output_node().args[0]
        addition.replace_all_uses_with(addition.args[0])
        graph.eliminate_dead_code()


# ---- how an answer is used -------------------------------------------------------------------------------------------


def model_and_changed(model: nn.Module) -> tuple[Any, ...]:
    """The arguments of the answer: a model, the module that a pass made of it, and an input."""
    assert isinstance(model, Pair)
    return nameless_model(model), model.changed(), model.draw()


def observed(answer: Callable[..., Any], model: nn.Module, changed: nn.Module, x: Tensor) -> dict[str, Any]:
    """What the answer returns, what it leaves behind, and whether it lets the error of ``changed`` through."""
    before = x.clone()
    verdict, let_through = None, False
    try:
        verdict = answer(model, changed, x)
    except Exception as error:
        if type(error) is not _error_of(changed, before):
            raise
        let_through = True
    graded = [name for name, weight in model.named_parameters() if weight.grad is not None]
    other_values = x.shape != before.shape or not torch.equal(x, before)
    change = "requires a gradient" if x.requires_grad else "has other values" if other_values else None
    return {"verdict": verdict, "let through": let_through, "graded": graded, "change of x": change}


def _error_of(changed: nn.Module, x: Tensor) -> type[Exception] | None:
    """The class of the error that the module raises when it runs or when its gradient is computed, if any."""
    leaf = x.clone().requires_grad_()
    try:
        torch.autograd.grad(changed.forward(leaf + 0).sum(), [leaf])
    except Exception as error:
        return type(error)
    return None


USAGE = Usage(
    "compute",
    cases=(
        Case("a model and its trace", Unchanged, rows()),
        Case("`relu` in place on a value that is used again", UsedAgain, rows()),
        Case("`relu` in place on the input", OverInput, rows()),
        Case("`relu` in place on the result of `sigmoid`", KeptForBackward, rows()),
        Case("`celu` in place where it is safe", SafelyInPlace, rows()),
        Case("a straight-through rounding and its trace", LostBackward, rows()),
        Case("a parameter that was detached", Detached, rows()),
        Case("a softmax over a dimension that does not exist", Raising, rows()),
        Case("a result whose rows are reversed", inserted(torch.flip, (0,)), rows()),
        Case("a result with one more dimension", inserted(torch.unsqueeze, 0), rows()),
        Case("gradients in different rows", inserted(passed_on, (0,), 1.0, after_input=True), rows()),
        Case("a result that is too large by a thousandth", inserted(torch.add, 0.001), rows()),
        Case("gradients that are too large by a hundredth", inserted(passed_on, (), 1.01, after_input=True), rows()),
        Case("`relu6` on numbers above six", ClippedMore, rows()),
        Case("`relu6` on numbers below six", Clipped, rows()),
        Case("a parameter multiplied by 0, then removed", ZeroGradient, rows()),
        Case("`relu` in place on a value without other users", UsedOnce, rows()),
        Case("a result whose rows are reversed twice", inserted(torch.flip, (0,), times=2), rows()),
        Case("a result to which zero is added", inserted(torch.add, 0.0), rows()),
        Case("gradients that are passed on unchanged", inserted(passed_on, (), 1.0, after_input=True), rows()),
        Case("a model that overwrites its input, and its trace", Overwriting, rows()),
        Case("a model in training mode and its trace", Training, rows()),
    ),
    given=model_and_changed,
    call=observed,
)
