"""Models with pairs that change nothing, and with pairs that must stay, each for one reason."""

from __future__ import annotations

from typing import Any

import torch
import torch.ao.quantization.fx._decomposed
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of
from fxbook.cases.zoo import crowded_trace

_aten = torch.ops.aten
_ops = torch.ops.quantized_decomposed
QUANTIZE, DEQUANTIZE = _ops.quantize_per_tensor.default, _ops.dequantize_per_tensor.default

How = tuple[Any, ...]


def _how() -> How:
    """A random scale and zero point, the bounds and the dtype."""
    return one_of(0.02, 0.03, 0.05), one_of(-3, 0, 4), -128, 127, torch.int8


def _pair(x: Any, how: How) -> Any:
    """Both calls, with scales that are equal but are not the same object."""
    return DEQUANTIZE(QUANTIZE(x, *how), how[0] * 1.0, *how[1:])


class Layers(nn.Module):
    """Several pairs in a row between layers; a call in float uses one of them, and one pair has a different scale."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(4, 4)), nn.Parameter(torch.randn(4))
        self.near, self.far = _how(), _how()
        self.other = (2 * self.far[0], *self.far[1:])

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        shared = _pair(x, self.near)
        twice = _aten.relu.default(_pair(shared, self.near))
        hidden = _aten.linear.default(_aten.neg.default(shared), self.weight, self.bias)
        row = _pair(_pair(_pair(hidden, self.far), self.far), self.far)
        scaled = _pair(_aten.add.Tensor(row, twice), self.far)
        return _aten.sigmoid.default(_pair(scaled, self.other)), twice


class Differing(nn.Module):
    """For each argument, two pairs in a row that differ in this argument; and two pairs in a row that are equal."""

    def __init__(self) -> None:
        super().__init__()
        scale, zero, low, high, dtype = self.how = (*_how()[:2], 0, 100, torch.int8)
        self.others = [
            (scale * (1 + 1e-9), zero, low, high, dtype),
            (scale, zero + 2, low, high, dtype),
            (scale, zero, low + 10, high, dtype),
            (scale, zero, low, high - 60, dtype),
            (scale, zero, low, high, torch.uint8),
            self.how,
        ]

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return tuple(
            _aten.tanh.default(_pair(_pair(x * place, self.how), how)) for place, how in enumerate(self.others, 2)
        )


class Between(nn.Module):
    """Calls, with one input or two, between a `dequantize` and a `quantize`; some come after a pair to drop."""

    def __init__(self) -> None:
        super().__init__()
        self.how = _how()

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        first = _pair(_pair(x, self.how), self.how)
        second = _pair(_aten.clone.default(_pair(_aten.relu.default(first), self.how)), self.how)
        turned = _pair(_aten.reshape.default(_pair(second, self.how), [2, 8]), self.how)
        return turned, _pair(_aten.add.Tensor(turned, turned), self.how)


class Integers(nn.Module):
    """Integers as the input and among the results; one `dequantize` whose result several `quantize` calls use."""

    def __init__(self) -> None:
        super().__init__()
        self.how = (*_how()[:2], -128, 127, torch.int8)

    def forward(self, x: Tensor) -> dict[str, Any]:
        values = DEQUANTIZE(x, *self.how)
        again = [QUANTIZE(values, *self.how), QUANTIZE(values, *self.how)]
        narrow = QUANTIZE(values, *self.how[:2], -9, 9, torch.int8)
        both = DEQUANTIZE(again[0], *self.how)
        alone = QUANTIZE(DEQUANTIZE(x, *self.how), *self.how)
        return {"again": again, "narrow": narrow, "float": _aten.exp.default(both), "alone": [alone, (both, alone)]}


class Channels(nn.Module):
    """Pairs of other overloads in a row; calls without users."""

    def __init__(self) -> None:
        super().__init__()
        self.how = _how()
        # Tracing makes one node for a parameter, so that all arguments of these pairs are equal.
        self.scales = nn.Parameter(torch.rand(4) / 10 + 0.01, requires_grad=False)
        self.zeros = nn.Parameter(torch.zeros(4, dtype=torch.int64), requires_grad=False)

    def forward(self, x: Tensor) -> Any:
        how = (self.scales, self.zeros, 1, -127, 127, torch.int8)
        chosen = _ops.choose_qparams.tensor(x, -128, 127, 1e-6, torch.int8)
        tensors = (chosen[0], chosen[1], -128, 127, torch.int8)
        values = x
        for _ in range(2):
            values = _ops.dequantize_per_channel.default(_ops.quantize_per_channel.default(values, *how), *how)
        for _ in range(2):
            values = _ops.dequantize_per_tensor.tensor(_ops.quantize_per_tensor.tensor(values, *tensors), *tensors)
        rounded = _pair(_pair(values, self.how), self.how)
        _aten.cos.default(rounded)
        _pair(_aten.sin.default(rounded), self.how)
        QUANTIZE(rounded, *self.how)
        QUANTIZE(_pair(_aten.exp.default(rounded), self.how), *self.how)
        return _aten.relu.default(rounded)


def floats() -> tuple[Tensor, ...]:
    return (torch.randn(4, 4),)


def integers() -> tuple[Tensor, ...]:
    return (torch.randint(-128, 128, (4, 4), dtype=torch.int8),)


USAGE = Usage(
    "edit",
    cases=(
        Case("pairs between layers", Layers, floats),
        Case("pairs that differ", Differing, floats),
        Case("calls in between", Between, floats, unseen=True, given=crowded_trace),
        Case("integers in and out", Integers, integers, unseen=True),
        Case("pairs per channel, and calls without users", Channels, floats, unseen=True),
    ),
)
