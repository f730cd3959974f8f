"""The models on which the answers of chapter 02 are tried, each with what its exercises ask of it in eager terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear


class Anchored(nn.Module):
    """Knows what the chain exercise asks of it: the functions, and the submodule or input behind which they go."""

    anchor = "block"
    chain: tuple[Callable[[Tensor], Tensor], ...] = (torch.square, torch.log1p)


class FeedForward(Anchored):
    """The block of the chapter."""

    anchor = "up"

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(4, 8)
        self.down = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(torch.relu(self.up(x)))

    def halved(self, x: Tensor) -> Tensor:
        return x * 0.5 + self.down(torch.relu(self.up(x)))

    def rounded(self, x: Tensor) -> Tensor:
        return torch.round(x + self.down(torch.round(torch.relu(self.up(x)))))


class Activated(FeedForward):
    """The block of the chapter, changed behind its activation: a function, whose name is not its target."""

    anchor = "relu"

    def with_activation(self, change: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        return x + self.down(change(torch.relu(self.up(x))))


class Passing(Anchored):
    """Returns its input as it is."""

    anchor = "x"
    chain = (torch.exp, torch.tanh, torch.neg)

    def forward(self, x: Tensor) -> Tensor:
        return x


class Joined(Anchored):
    """``block`` is read twice by one node, inside a list and by name, and is returned beside the rest."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        value = self.block(x)
        joined = torch.cat([value, x, value * value], dim=-1)
        return torch.sub(joined, 1.0).relu(), {"raw": value, "shifted": torch.add(input=value, other=1.0)}


class TwoSkips(nn.Module):
    """Two inputs; additions that read none, one or two of them, one that reads an input twice."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        hidden = self.mix(x) + self.mix(residual)
        return (hidden + x) * (residual + x) + (x + x) * residual

    def halved(self, x: Tensor, residual: Tensor) -> Tensor:
        hidden = self.mix(x) + self.mix(residual)
        return (hidden + x / 2) * (residual / 2 + x / 2) + x * residual


class Rounding(nn.Module):
    """Calls of functions in a row, read twice, rounded already, and returned beside one another."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        scaled = torch.round(torch.mul(self.scale(x), 5.0))
        narrowed = torch.mul(scaled, 0.4)
        return torch.exp(narrowed) * torch.square(narrowed), (x.sigmoid() * 3.0)

    def rounded(self, x: Tensor) -> tuple[Tensor, Tensor]:
        scaled = torch.round(self.scale(x) * 5.0)
        narrowed = torch.round(scaled * 0.4)
        product = torch.round(torch.exp(narrowed)) * torch.round(torch.square(narrowed))
        return torch.round(product), torch.round(x.sigmoid() * 3.0)


class Attention(nn.Module):
    """Three inputs, whose order in the signature a sort must keep; ``query`` is not the first one read."""

    def __init__(self) -> None:
        super().__init__()
        self.key = nn.Linear(4, 4)
        self.bias = nn.Parameter(torch.randn(3))

    def forward(self, query: Tensor, value: Tensor, keys: Tensor) -> Tensor:
        scores = torch.softmax(query @ self.key(keys).transpose(0, 1) + self.bias, dim=-1)
        return scores @ value


class Unread(nn.Module):
    """Computes a chain that nothing reads, longer than the way to the output."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.mix(x)
        hidden.tanh().exp().sum(0)
        return hidden + x


class Layered(nn.Module):
    """Calls of a layer in the ways a model can make them, told apart by the subclasses.

    ``task`` is what the answer is called with besides the model: a module class, its functional form, an activation.
    """

    task: tuple[type[nn.Module], Callable[..., Any], Callable[[Tensor], Tensor]] = (
        nn.Linear,
        nn.functional.linear,
        torch.relu,
    )


class Stack(Layered):
    """Nested modules, the last linear layer feeding the output; a convolution, which is to stay."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv1d(1, 1, 3, padding=1)
        self.body = nn.Sequential(nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.0)), nn.Linear(6, 6))
        self.head = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(self.enter(x)))


class Functional(Layered):
    """The functional form, with a weight of its own, by position and by name."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 6))
        self.project = nn.Linear(6, 6, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = nn.functional.linear(x, self.weight)
        return nn.functional.linear(input=self.project(x), weight=self.weight, bias=self.weight[0])


class Tied(Layered):
    """One layer called twice, another with the same weight; a value read by three; a tuple and a dict returned."""

    task = (nn.Linear, nn.functional.linear, torch.tanh)

    def __init__(self) -> None:
        super().__init__()
        self.shared = nn.Linear(6, 6)
        self.tied = nn.Linear(6, 6)
        self.tied.weight = self.shared.weight

    def forward(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        first = self.shared(x)
        second = self.shared(first) * first
        return self.tied(torch.cat([first, second], dim=0)), {"first": first, "second": second}


class Gated(nn.Linear):
    """A linear layer of the user's own: tracing goes into it and finds the functional form."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * 2.0


class WithOwnLayer(Layered):
    """A subclass of the layer, and a bilinear layer, which is another kind."""

    task = (nn.Linear, nn.functional.linear, nn.functional.gelu)

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gated(6, 6)
        self.pair = nn.Bilinear(6, 6, 6)

    def forward(self, x: Tensor) -> Tensor:
        return self.pair(self.gate(x), x)


class WithLeafSubclass(Layered):
    """A subclass of the layer that stands in ``torch.nn`` and so stays a leaf, behind a layer of the class itself."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(6, 6)
        # What nn.MultiheadAttention has for its out_proj.
        self.out_proj = NonDynamicallyQuantizableLinear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        return self.out_proj(self.enter(x)) - x


class Convolutional(Layered):
    """Another kind of layer, as module and as function; linear layers, which are to stay."""

    task = (nn.Conv2d, nn.functional.conv2d, torch.relu)

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Conv2d(1, 1, 3, padding=1) for _ in range(2))
        self.kernel = nn.Parameter(torch.randn(2, 1, 3, 3))
        self.head = nn.Linear(5, 2)

    def forward(self, image: Tensor) -> Tensor:
        for block in self.blocks:
            image = image + block(image)
        return self.head(nn.functional.conv2d(image, self.kernel, padding=1))
