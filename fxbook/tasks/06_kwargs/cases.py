"""What the cases of chapter 06 share: inputs, sums in every spelling, and a record of everything that a module does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

functional = nn.functional

# Python's own sum, kept as one node when a model in this file is traced.
fx.wrap("sum")


def rows(count: int = 1) -> Callable[[], tuple[Tensor, ...]]:
    """``count`` inputs of three rows of four."""
    return lambda: tuple(torch.randn(3, 4) for _ in range(count))


class Sums(nn.Module):
    """Sums over one dimension and over all, in every spelling, and a softmax, which is not a sum."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return torch.sum(x, 0), torch.sum(x, dim=1), x.sum(1), x.sum(dim=-1), torch.sum(x), functional.softmax(x, dim=1)


class MoreSums(nn.Module):
    """Sums with their arguments in every spelling, sums with ``dim=None``, and calls that only look like a sum."""

    def __init__(self) -> None:
        super().__init__()
        self.sum = nn.Sequential(nn.Linear(4, 4))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        x = self.sum(x)
        return (
            torch.sum(x, 1, False),
            x.sum(-1, False),
            torch.sum(x, dim=(0, 1), keepdim=False),
            torch.sum(x, keepdim=True, dim=0),
            torch.sum(input=x, dim=1),
            torch.sum(x, (0, 1), dtype=torch.float64),
            x.sum(keepdim=False, dim=[0]),
            x.sum(),
            x.sum(dtype=torch.float64),
            x.sum(dim=None),
            torch.sum(x, None, False),
            x.mean(1),
            torch.cumsum(x, dim=0),
            x.logsumexp(dim=1),
            torch.nansum(x, dim=0),
            sum(x, 0),
        )


def behaviour(call: Callable[..., Any], model: nn.Module, *inputs: Tensor) -> dict[str, Any]:
    """What a call does to its inputs and what it returns, with and without gradients.

    Args:
        call: ``model`` itself, or a module that shares its parameters.
        model: the module whose parameters' gradients are taken.
        inputs: left unchanged.

    Returns:
        ``{"result", "inputs", "gradients"}``: what is returned, the inputs afterwards, and each gradient by the name of
        the parameter, or ``"input 0"``.
    """
    own = [value.clone() for value in inputs]
    with torch.no_grad():
        result = pytree.tree_map_only(torch.Tensor, torch.clone, call(*own))
    with torch.enable_grad():
        leaves = [value.clone().requires_grad_() for value in inputs]
        # The passed tensor is not a leaf, so that in-place work on it shows in its value, not as an error.
        outputs = pytree.tree_leaves(call(*(leaf + 0 for leaf in leaves)))
        weights = dict(model.named_parameters())
        # A different weight for every element, so that no two gradients cancel.
        loss = sum((value * torch.linspace(1.0, 2.0, value.numel()).view_as(value)).sum() for value in outputs)
        gradients = torch.autograd.grad(loss, [*leaves, *weights.values()], allow_unused=True)
    names = [*(f"input {place}" for place in range(len(leaves))), *weights]
    return {"result": result, "inputs": own, "gradients": dict(zip(names, gradients, strict=True))}
