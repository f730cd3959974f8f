"""What the cases of chapter 01 share: inputs, models with random parameters, and results with their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases.running import reporting


def rows(width: int, count: int = 3) -> Callable[[], tuple[Tensor]]:
    """A function that returns a random batch of ``count`` rows."""
    return lambda: (torch.randn(count, width),)


def trained(model: nn.Module) -> nn.Module:
    """The model with random parameters, because the ones and zeros of a new norm would hide a mistake."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape))
    return model


def with_gradients(call: Callable[[Tensor], Any], model: nn.Module, x: Tensor) -> dict[str, Any]:
    """What a call returns, and the gradients of the input and of the model's parameters (``None`` if missing)."""
    weights = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
    with torch.enable_grad():
        leaf = x.clone().requires_grad_()
        # The passed tensor is not a leaf, since an in-place operation could not write to a leaf.
        result = call(leaf + 0)
        gradients = [None] * (1 + len(weights))
        if isinstance(result, Tensor) and result.requires_grad:
            # A different weight for every element, so that no two gradients cancel.
            loss = (result * torch.linspace(1.0, 2.0, result.numel(), dtype=result.dtype).view_as(result)).sum()
            gradients = torch.autograd.grad(loss, [leaf, *weights.values()], allow_unused=True)
    return {"result": result, "gradients": dict(zip(("the input", *weights), gradients, strict=True))}


def with_its_gradients(answer: Any, model: nn.Module) -> Any:
    """What the answer returns, changed so that running it also returns gradients."""
    return reporting(answer(model), lambda forward, x: with_gradients(forward, model, x))
