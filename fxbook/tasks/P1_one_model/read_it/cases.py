"""Networks as they come: in training mode, with a flag, and with layers that only training needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import Block, functional, images, lived


class ResNet(nn.Module):
    """A smaller version of the project's network."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.blocks = nn.Sequential(Block(4, 4), Block(4, 6, 2))
        self.auxiliary = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3))
        self.pool, self.drop, self.head = nn.AdaptiveAvgPool2d(1), nn.Dropout(0.2), nn.Linear(6, 3)
        lived(self).train()

    def forward(self, images: Tensor, mean: Tensor, std: Tensor | float = 1.0, features: bool = False) -> object:
        x = self.blocks(functional.relu(self.norm(self.stem((images - mean) / std))))
        auxiliary = self.auxiliary(x)
        pooled = self.pool(x).flatten(1)
        if features:
            return pooled
        scores = self.head(self.drop(pooled))
        return (scores, auxiliary) if self.training else scores


class Frozen(nn.Module):
    """A flag that is true by default, two frozen norms, one of them nested, an unused input, an assertion, a loop and a
    branch.
    """

    checks_itself = True

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4)
        self.block, self.head = Block(4, 4), nn.Linear(4, 2)
        self.register_buffer("scale", torch.rand(4) + 0.5)
        lived(self).train()
        for norm in (self.norm, self.block.norm1):
            norm.eval()
        self.head.weight.requires_grad_(False)

    def forward(self, images: Tensor, mean: Tensor, std: Tensor, features: bool = True, mask: object = None) -> Tensor:
        torch._assert(images.ndim == 4, "images by batch, channel, row and column")
        x = self.norm(self.stem(images - mean))
        for _ in range(2):
            x = self.block(x)
        if self.training:
            x = x + torch.randn_like(x)
        pooled = x.mean((2, 3)) * self.scale
        return pooled if features else self.head(functional.dropout(pooled, 0.5, self.training))


def read(answer: Callable[..., Any], model: nn.Module) -> Any:
    """What the answer returns, with the model's own tensors in place of those that share memory with them."""
    result = answer(model)
    own = {tensor.data_ptr(): tensor for tensor in (*model.parameters(), *model.buffers())}
    for module in result.modules() if isinstance(result, nn.Module) else ():
        for held in (module._parameters, module._buffers):
            held.update({name: own.get(one.data_ptr(), one) for name, one in held.items() if one is not None})
    return result


USAGE = Usage(
    "pass",
    cases=(
        Case("the network of the project", ResNet, images()),
        Case("a frozen norm, an assertion, a loop", Frozen, images(), unseen=True),
    ),
    call=read,
)
