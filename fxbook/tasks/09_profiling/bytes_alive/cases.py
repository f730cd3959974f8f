"""Models with views, in-place writes, nested results, several inputs, weights and buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.zoo import last_users_first

from ..cases import ResNet, with_images


class Views(nn.Module):
    """Views, an in-place operation, a tuple of two results, a weight, a view of a weight, a value used at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 12)
        self.scale = nn.Parameter(torch.randn(12))
        self.mix = nn.Parameter(torch.randn(5, 4))

    def forward(self, x: Tensor) -> Tensor:
        left, middle, right = (self.project(x) * self.scale).split(4, dim=-1)
        flat = nn.functional.relu(left + middle @ self.mix[1:].t(), inplace=True).reshape(-1, 2)
        largest, places = torch.topk(x, 4)
        return torch.cat([flat.reshape(-1, 4), right, largest, places.float()], dim=0)


class Shift(nn.Module):
    """A submodule with a parameter and a buffer of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.randn(3))
        self.register_buffer("offset", torch.randn(3))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gain + self.offset


class Positions(nn.Module):
    """A leaf that returns a view of its weight."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(9, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.table[: x.size(1)]


class Whole(fx.Tracer):
    """Treats Positions as a leaf."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, Positions) or super().is_leaf_module(m, module_qualified_name)


class Sequences(nn.Module):
    """Inputs of several kinds, one of them without users; a nested result, a number, and submodules with weights.

    The last use of a value is by keyword.
    """

    def __init__(self) -> None:
        super().__init__()
        self.recurrent = nn.LSTM(4, 3, batch_first=True)
        self.shift, self.positions = Shift(), Positions()

    def forward(self, x: Tensor, pair: dict[str, Tensor], spare: Tensor) -> Tensor:
        result, (hidden, cell) = self.recurrent(x)
        shifted = self.shift(result + self.positions(x)) / x.size(1)
        joined = torch.cat([shifted, pair["left"], pair["right"]], dim=1)
        return torch.add(torch.tanh(joined) * (hidden + cell).transpose(0, 1), other=joined)


def size(least: int, most: int) -> int:
    """A random size, from torch's seeded generator; both limits are included."""
    return int(torch.randint(least, most + 1, ()))


def with_rows(model: nn.Module) -> tuple[Any, ...]:
    return fx.symbolic_trace(model), torch.randn(size(5, 9), 8)


def with_sequences(model: nn.Module) -> tuple[Any, ...]:
    """Pass the traced model, sequences, a dict of two tensors, and a parameter.

    The buffer is not persistent.
    """
    traced = fx.GraphModule(model, Whole().trace(model))
    traced.shift.register_buffer("offset", traced.shift.offset, persistent=False)
    last_users_first(traced.graph)
    batch = size(2, 5)
    pair = {"left": torch.randn(batch, size(2, 4), 3), "right": torch.randn(batch, size(5, 7), 3)}
    return traced, torch.randn(batch, size(3, 6), 4), pair, nn.Parameter(torch.randn(size(2, 9)))


def explaining(answer: Callable[..., Any], traced: fx.GraphModule, *inputs: Any) -> Any:
    """Call the answer; if it raises torch's error about a set of tensors, add an explanation."""
    try:
        return answer(traced, *inputs)
    except RuntimeError as error:
        if "Boolean value of Tensor" in str(error):
            why = "a set compares tensors element by element, but storages as objects"
            error.args = (f"{str(error).splitlines()[0]} ({why})",)
        raise


USAGE = Usage(
    "compute",
    cases=(
        Case("the network of the chapter", ResNet, tuple, given=with_images),
        Case("views, a tuple and weights", Views, tuple, unseen=True, given=with_rows),
        Case("several inputs, a nested result and buffers", Sequences, tuple, unseen=True, given=with_sequences),
    ),
    call=explaining,
)
