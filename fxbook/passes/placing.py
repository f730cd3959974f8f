"""Move a module to another dtype, or to the device ``meta``, where nothing is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

from fxbook.passes.copying import copied


def elsewhere(
    module: fx.GraphModule, inputs: Sequence[Any], dtype: torch.dtype | None, device: str = "meta"
) -> tuple[fx.GraphModule, Any]:
    """Copies of a module and its inputs, converted as by ``to(device, dtype)``; on ``meta``, neither takes any memory.

    As with ``to``, tensors that are neither parameters nor buffers stay where they are.
    """

    def moved(held: Tensor) -> Tensor:
        new = held.detach().to(device, dtype if held.is_floating_point() else None)
        return nn.Parameter(new, held.requires_grad) if isinstance(held, nn.Parameter) else new

    memo: dict[int, Any] = {}
    for below in module.modules():
        for held in (*below._parameters.values(), *below._buffers.values()):
            if held is not None:
                memo.setdefault(id(held), moved(held))
    return copied(module, memo), pytree.tree_map_only(Tensor, moved, inputs)
