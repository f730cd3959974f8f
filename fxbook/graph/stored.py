"""What a module holds: its submodules, its tensors, its plain settings; and the bytes of a tensor."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from fxbook.graph.plain import plain

JSON = Any
_MISSING = object()
_Module, _Tensor = nn.Module, torch.Tensor


def children_of(module: nn.Module) -> list[tuple[str, nn.Module]]:
    """The submodules of a module by name, without those that are ``None``."""
    return [(name, child) for name, child in module._modules.items() if isinstance(child, _Module)]


def held_by(module: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """A module's own parameters, buffers and other tensors by name."""
    found = (*module._parameters.items(), *module._buffers.items(), *plain_tensors(module))
    return [(name, held) for name, held in found if held is not None]


def plain_tensors(module: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """The attributes of a module that are tensors but neither parameters nor buffers."""
    return [(name, held) for name, held in vars(module).items() if isinstance(held, _Tensor)]


def settings_of(module: nn.Module) -> dict[str, JSON]:
    """The attributes that are plain data, by name; torch's own attributes begin with ``_``."""
    return {
        name: value
        for name, held in vars(module).items()
        if not name.startswith("_") and name != "training" and (value := _setting(held)) is not _MISSING
    }


def _setting(value: Any, depth: int = 0) -> Any:
    if isinstance(value, bool | int | float | str | None):
        return plain(value, lambda _: None)
    if isinstance(value, tuple | list) and len(value) <= 20 and depth < 3:
        items = [_setting(item, depth + 1) for item in value]
        if all(item is not _MISSING for item in items):
            return {"tuple": items} if isinstance(value, tuple) else items
    return _MISSING


def bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of a tensor, in the order of its elements, whatever its layout."""
    flat = dense_of(tensor.detach()).cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return flat.view(torch.uint8)


def dense_of(tensor: torch.Tensor) -> torch.Tensor:
    """The values of a sparse, quantised or mkldnn tensor, as a dense tensor."""
    if tensor.is_quantized:
        return tensor.dequantize()
    return tensor if tensor.layout == torch.strided else tensor.to_dense()
