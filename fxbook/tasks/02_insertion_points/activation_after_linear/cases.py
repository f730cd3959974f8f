"""Models that call a layer in every possible way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear

from fxbook.cases import Case, Usage
from fxbook.cases.neighbours import near


class Layered(nn.Module):
    """A model with calls to a layer.

    ``task`` holds the other arguments of the answer: the layer's class, its functional form, and an activation.
    """

    task: tuple[type[nn.Module], Callable[..., Any], Callable[[Tensor], Tensor]] = (
        nn.Linear,
        nn.functional.linear,
        torch.relu,
    )


class Stack(Layered):
    """Linear layers in nested modules, one of which computes the result; a convolution, which must stay."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv1d(1, 1, 3, padding=1)
        self.body = nn.Sequential(nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.0)), nn.Linear(6, 6))
        self.head = nn.Linear(6, 3)
        with torch.no_grad():
            self.head.bias[0] = -5.0  # so that the activation changes the result

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(self.enter(x)))


class Functional(Layered):
    """The functional form, by position and by name, with a parameter as its weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 6))
        self.project = nn.Linear(6, 6, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = nn.functional.linear(x, self.weight)
        return nn.functional.linear(input=self.project(x), weight=self.weight, bias=self.weight[0])


class Tied(Layered):
    """A layer called twice; another, in eval mode, that shares its weight; the model's own activation; a dict.

    A value is changed in place by a call whose result no node uses.
    """

    task = (nn.Linear, nn.functional.linear, torch.tanh)

    def __init__(self) -> None:
        super().__init__()
        self.shared = nn.Linear(6, 6)
        self.tied = nn.Linear(6, 6)
        self.tied.weight = self.shared.weight
        self.tied.eval().bias.requires_grad_(False)

    def forward(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        first = self.shared(x)
        second = self.shared(first) * torch.tanh(first)
        second.add_(1.0)
        return self.tied(torch.cat([first, second], dim=0)), {"first": first, "second": second}


@fx.wrap
def linear(value: Tensor) -> Tensor:
    """A user-defined function with the name of the functional form."""
    return value * 0.5


class Gated(nn.Linear):
    """A user-defined linear layer; tracing enters it, and so records the functional form."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * 2.0


class WithOwnLayer(Layered):
    """A user-defined subclass of the layer, and three calls that must stay.

    They are a bilinear layer, a function named ``linear`` and a product of matrices.
    """

    task = (nn.Linear, nn.functional.linear, nn.functional.gelu)

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gated(6, 6)
        self.pair = nn.Bilinear(6, 6, 6)

    def forward(self, x: Tensor) -> Tensor:
        return torch.matmul(self.pair(linear(self.gate(x)), x), self.gate.weight)


class WithLeafSubclass(Layered):
    """A linear layer, then an instance of a subclass in ``torch.nn``, which stays a leaf; two inputs.

    The result of one call has no users.
    """

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(6, 6)
        # The class of nn.MultiheadAttention's out_proj.
        self.out_proj = NonDynamicallyQuantizableLinear(6, 6)

    def forward(self, x: Tensor, offset: Tensor) -> Tensor:
        mixed = self.out_proj(self.enter(x))
        self.enter(offset)
        return mixed - offset


class Softmaxed(Layered):
    """Softmax as modules and as a function; and calls that look like it, which must stay."""

    task = (nn.Softmax, nn.functional.softmax, torch.tanh)

    def __init__(self) -> None:
        super().__init__()
        self.near = near(nn.Softmax, -1, on=(3, 6), without=("deeper", "keyword", "function_softmax"))
        self.blocks = nn.ModuleList(nn.Softmax(dim=-1) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = x - block(x)
        others = [layer(x) for layer in self.near.values()]
        return torch.stack(others).sum(0) * nn.functional.softmax(x, dim=-1)


def layered(
    name: str,
    build: type[Layered],
    *shape: int,
    count: int = 1,
    unseen: bool = False,
    given: Callable[[nn.Module], nn.Module] = lambda model: model,
) -> Case:
    """A case with inputs of this shape; the answer gets what ``given`` returns for the model, and the model's task."""

    def inputs() -> tuple[Tensor, ...]:
        return tuple(torch.randn(*shape) for _ in range(count))

    return Case(name, build, inputs, unseen=unseen, given=lambda model: (given(model), *build.task))


USAGE = Usage(
    "pass",
    cases=(
        layered("nested modules", Stack, 3, 1, 6),
        layered("the functional form", Functional, 3, 6),
        layered("a layer called twice, and one that shares its weight", Tied, 3, 6, unseen=True),
        layered("a user-defined subclass, which tracing enters", WithOwnLayer, 3, 6, unseen=True),
        layered("softmax layers, and calls that look like them", Softmaxed, 3, 6, unseen=True),
        layered(
            "a traced model with a subclass in `torch.nn`",
            WithLeafSubclass,
            3,
            6,
            count=2,
            unseen=True,
            given=fx.symbolic_trace,
        ),
    ),
)
