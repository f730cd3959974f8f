"""Models that pool with a function, to one or several sizes."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.neighbours import near

from ..cases import images, with_its_graph


class ChannelAttention(nn.Module):
    """A weight for each channel, computed from all channels."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.act = nn.ReLU()
        self.gate = nn.Conv2d(4, 4, 1)

    def forward(self, image: Tensor) -> Tensor:
        features = self.act(self.conv(image))
        pooled = nn.functional.adaptive_avg_pool2d(features, 1)
        return features * torch.sigmoid(self.gate(pooled))


class Pyramid(nn.Module):
    """Pools of three sizes, and a pool without users; submodules with the obvious names; pools of other kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = nn.MaxPool2d(2)
        self.pool_0 = nn.Conv2d(1, 2, 3, padding=1)
        self.pool_1 = nn.Conv2d(2, 2, 1)
        self.adaptive_avg_pool2d = nn.Tanh()
        self.near = near(nn.functional.adaptive_avg_pool2d, 2, on=(2, 2, 4, 4))

    def forward(self, image: Tensor) -> tuple[Tensor, ...]:
        image = self.pool_1(self.pool_0(self.pool(image)))
        coarse = self.adaptive_avg_pool2d(nn.functional.adaptive_avg_pool2d(image, 1))
        middle = nn.functional.adaptive_avg_pool2d(image, output_size=(2, 1))
        fine = nn.functional.adaptive_avg_pool2d(image, (None, 2))
        nn.functional.adaptive_avg_pool2d(image, 3)
        joined = torch.cat([part.flatten(1) for part in (coarse, middle - middle.mean(), fine)], dim=1)
        return joined, *(one(image) for one in self.near.values())


class Taken(nn.Module):
    """Submodules with every name that comes to mind, numbered or not.

    Those without a weight are called, and do nothing; the others are not called.
    """

    def __init__(self) -> None:
        super().__init__()
        words = ("pool", "pools", "squeeze", "squeezes", "pooled", "avgpool", "adaptive", "new_pool", "layer")
        self.adaptive_avg_pool2d = nn.Identity()
        for word in words:
            for ending in ("", "_", "0", "1", "_0", "_1"):
                self.add_module(word + ending, nn.PReLU() if ending in ("0", "_1") else nn.Identity())

    def forward(self, image: Tensor) -> Tensor:
        for module in self.children():
            if isinstance(module, nn.Identity):
                image = module(image)
        return torch.cat([nn.functional.adaptive_avg_pool2d(image, size) for size in ((1, 2), (2, 2), (1, 2))], dim=2)


def with_uncalled_submodules(model: nn.Module) -> tuple[fx.GraphModule]:
    """The traced model, with the submodules that it does not call, which tracing leaves out."""
    traced = fx.symbolic_trace(model)
    for name, module in model.named_children():
        if not hasattr(traced, name):
            traced.add_submodule(name, module)
    return (traced,)


USAGE = Usage(
    "edit",
    cases=(
        Case("the channel attention", ChannelAttention, images(6)),
        Case("pools of three sizes", Pyramid, images(), unseen=True),
        Case("submodules with many names", Taken, images(4), unseen=True, given=with_uncalled_submodules),
    ),
    call=with_its_graph,
)
