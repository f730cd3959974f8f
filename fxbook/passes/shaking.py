"""Replace a module's initial values, because the zeros and ones of a fresh module hide faults of a pass.

A fresh batch norm has mean 0, variance 1, weight 1 and bias 0, so a pass may ignore one of them unnoticed. No trained
model has such values. The new values depend only on the tensor's name.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.passes.copying import copied
from fxbook.passes.outcome import dense, tensors_of

_STATISTICS = ("running_mean", "running_var")


def shake(module: nn.Module) -> list[str]:
    """Replace parameters whose elements are all equal, and initial norm statistics; return their names.

    A positive number stays positive, shared tensors stay shared, and the old tensors are not changed.

    Example:
        >>> norm = nn.BatchNorm1d(2)
        >>> shake(norm)
        ['weight', 'bias', 'running_mean', 'running_var']
    """
    fresh: list[str] = []
    new: dict[int, Tensor] = {}
    for path, below in module.named_modules(remove_duplicate=False):
        for held_by in (below._parameters, below._buffers):
            for name, held in held_by.items():
                if held is None or (id(held) not in new and not _is_fresh(name, held)):
                    continue
                full = f"{path}.{name}" if path else name
                if id(held) not in new:
                    new[id(held)] = _shaken(full, held)
                    new[id(new[id(held)])] = new[id(held)]
                    fresh.append(full)
                held_by[name] = new[id(held)]
    return fresh


def with_other_numbers(
    modules: Sequence[fx.GraphModule], names: Collection[str], numbers: Mapping[str, Tensor] | None = None
) -> list[fx.GraphModule]:
    """Copies of modules in which the named tensors hold different values, the same in each copy; all others are shared.

    The values are those in ``numbers``, or the old ones in reverse, so that an index stays an index, and a variance a
    variance.
    """
    new: dict[str, Tensor] = dict(numbers or {})
    copies = []
    for module in modules:
        memo: dict[int, Any] = {}
        for name, held in tensors_of(module).items():
            if name in names and id(held) not in memo:
                memo[id(held)] = new.setdefault(name, _reversed(held))
            memo.setdefault(id(held), held)
        copies.append(copied(module, memo))
    return copies


def _reversed(held: Tensor) -> Tensor:
    if not dense(held) or held.is_quantized:
        return held
    numbers = held.detach().reshape(-1).flip(0).reshape(held.shape).clone()
    if torch.equal(numbers, held) and held.is_floating_point():
        numbers = numbers * 1.5 + 0.25
    return nn.Parameter(numbers, held.requires_grad) if isinstance(held, nn.Parameter) else numbers


def _is_fresh(name: str, held: Tensor) -> bool:
    if type(held) not in (Tensor, nn.Parameter, nn.Buffer) or not held.is_floating_point() or not held.numel():
        return False
    # A mean and a variance keep these endings in a graph: `bn.running_mean`, `L__self___bn_running_mean`.
    if (
        held.layout != torch.strided
        or held.is_meta
        or not (isinstance(held, nn.Parameter) or name.endswith(_STATISTICS))
    ):
        return False
    flat = held.detach().reshape(-1)
    # A learned scale with one element is rarely exactly 0 or 1.
    return bool((flat == flat[0]).all()) and (flat.numel() > 1 or flat[0].item() in (0, 1))


def _shaken(name: str, held: Tensor) -> Tensor:
    """Values near the old ones; some variances are so small that `eps` matters."""
    drawn = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    part = torch.rand(held.shape, generator=drawn, dtype=torch.float64)
    middle = held.detach().reshape(-1)[0].item()
    numbers = part - 0.5 if middle == 0 else middle * ((part**3 + 0.05) if name.endswith("var") else part + 0.5)
    # This keeps the tensor's subclass.
    numbers = numbers.to(held)
    return nn.Parameter(numbers, held.requires_grad) if isinstance(held, nn.Parameter) else numbers
