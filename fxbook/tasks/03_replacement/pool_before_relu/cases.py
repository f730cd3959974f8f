"""Models that pool what a ReLU returns."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.neighbours import near, used_by
from fxbook.cases.zoo import crowded_trace

from ..cases import images, with_its_graph


class Convolutional(nn.Module):
    """The usual order: convolution, ReLU, pool. Some pooled values are below zero, so that the ReLU matters."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        nn.init.constant_(self.conv.bias, -1.0)  # type: ignore[arg-type]
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2)

    def forward(self, image: Tensor) -> Tensor:
        return self.pool(self.relu(self.conv(image)))


class Swappable(nn.Module):
    """Pairs to swap: with shared modules, after an input, in two parallel branches, after a value with other users,
    and with a ReLU that works in place. Nodes to leave: a ReLU with two or three users, one with two pools as users, a
    pool after a convolution, a ReLU before a convolution, a pool after another activation or another spelling of ReLU,
    and a pool of another kind after a ReLU.
    """

    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2)
        self.body = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.left = nn.Conv2d(2, 2, 1)
        self.right = nn.Conv2d(2, 2, 1)
        self.mix = nn.Conv2d(2, 2, 1)
        self.soft = nn.GELU()
        self.hasty = nn.ReLU(inplace=True)
        self.average = nn.AvgPool2d(2)
        self.line, self.cube = nn.MaxPool1d(2), nn.MaxPool3d((1, 2, 2))
        self.relus = near(nn.ReLU, on=(2, 1, 8, 8), without=("keyword",))
        self.pools = near(nn.MaxPool2d, 2, on=(2, 1, 8, 8), without=("keyword",))

    def forward(self, image: Tensor) -> tuple[Tensor, ...]:
        small = self.pool(self.relu(image))
        features = self.body(small)
        left, right = self.left(features), self.right(features)
        first, second = self.relu(left), self.relu(right)
        both = self.pool(first) - self.pool(second)
        active = self.relu(self.mix(features))
        pooled = self.pool(active) + active.mean(), self.pool(self.mix(features))
        calm = self.mix(self.relu(0.1 - active))
        wave = torch.sin(small * 9)
        others = self.pool(self.soft(small)), self.pool(torch.relu(wave)), self.average(self.relu(wave))
        last = self.pool(self.hasty(-wave))
        twice = self.relu(small + 1.0)
        behind = [self.pool(one(-small)) for one in self.relus.values()] + [self.pool(twice), *used_by(twice, 1)]
        before = [one(self.relu(-small)) for one in self.pools.values()]
        before += [self.line(self.relu(-small.flatten(0, 1))), self.cube(self.relu(-small))]
        seen = self.relu(small - 1.0)
        before += [self.pool(seen), self.pool(seen)]
        return both + left.mean(), *pooled, features * features, calm, *others, last, *behind, *before


USAGE = Usage(
    "edit",
    cases=(
        Case("convolution, ReLU, pool", Convolutional, images()),
        Case("shared modules, a ReLU with two users", Swappable, images(16), unseen=True, given=crowded_trace),
    ),
    call=with_its_graph,
)
