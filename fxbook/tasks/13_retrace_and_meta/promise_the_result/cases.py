"""Fake tensors of random shapes, and of several dtypes, devices and strides, as arguments of an operator."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from fxbook.cases import Case, Usage


def gate(both: Tensor, dim: int = -1) -> Tensor:
    first, second = both.chunk(2, dim)
    return (nn.functional.silu(first) * second).contiguous()


def promised(answer: Callable[..., Any], both: Tensor, *dim: int) -> dict[str, Any]:
    """The properties of the answer's result when it is called with a fake tensor."""
    mode = FakeTensorMode()
    with mode:
        given = mode.from_tensor(both)
        result = answer(given, *dim)
    if not isinstance(result, Tensor):
        return {"kind": type(result).__name__}
    return {
        "kind": "fake" if isinstance(result, FakeTensor) else "real",
        "shape": tuple(result.shape),
        "dtype": str(result.dtype),
        "device": str(result.device),
        "stride": tuple(result.stride()),
        "own": isinstance(result, FakeTensor) and result.untyped_storage()._cdata != given.untyped_storage()._cdata,
    }


@functools.cache
def _load() -> None:
    # torch loads modules for the first fake tensors, which takes longer than an answer's time limit.
    promised(gate, torch.zeros(2, 2))


def of_sizes(
    *dim: int, rank: int = 3, dtype: torch.dtype = torch.float32, device: str = "cpu", turned: bool = False
) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the arguments of the answer: a tensor with different even sizes, and the dimension to halve."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        _load()
        # With a size of 1, any stride would be right.
        sizes = (2 * (torch.randperm(6)[:rank] + 2)).tolist()
        both = torch.zeros(*sizes, dtype=dtype, device=device)
        return (both.transpose(0, 1) if turned else both, *dim)

    return given


USAGE = Usage(
    "compute",
    cases=(
        Case("the last dimension", nn.Identity, tuple, given=of_sizes()),
        Case("the first dimension", nn.Identity, tuple, given=of_sizes(0)),
        Case("half precision", nn.Identity, tuple, unseen=True, given=of_sizes(-1, rank=2, dtype=torch.float16)),
        Case("on another device", nn.Identity, tuple, unseen=True, given=of_sizes(-1, device="meta")),
        Case("the middle, counted from the end", nn.Identity, tuple, unseen=True, given=of_sizes(-2)),
        Case("a transposed argument", nn.Identity, tuple, unseen=True, given=of_sizes(1, turned=True)),
    ),
    call=promised,
)
