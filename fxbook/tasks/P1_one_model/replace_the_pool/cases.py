"""Networks with global pools, flattened in every way that the task allows, and with pools that must stay."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.neighbours import near

from ..cases import CleanBlock, functional, images, lived


class ResNet(nn.Module):
    """The network of the project, cleaned."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.blocks = nn.Sequential(CleanBlock(4, 4), CleanBlock(4, 6, 2))
        self.pool, self.head = nn.AdaptiveAvgPool2d(1), nn.Linear(6, 3)
        lived(self)

    def forward(self, images: Tensor, mean: Tensor, std: Tensor | float = 1.0) -> Tensor:
        x = self.blocks(functional.relu(self.norm(self.stem((images - mean) / std))))
        return self.head(self.pool(x).flatten(1))


class Pools(nn.Module):
    """Pools with the input by keyword, with a pair of sizes, in a ``Sequential``, and with several calls; a flattening
    with a keyword; a dead node; and pools that stay, because they return two rows, two columns or all columns, are of
    other classes, have two users, are used by a layer or a sum, or are flattened from another dimension or not at all.
    Other nodes stand between a pool and its flattening.
    """

    def __init__(self) -> None:
        super().__init__()
        self.one, self.pair = nn.AdaptiveAvgPool2d(1), nn.AdaptiveAvgPool2d((1, 1))
        self.grid, self.row = nn.AdaptiveAvgPool2d(2), nn.AdaptiveAvgPool2d((1, None))
        self.column, self.near = nn.AdaptiveAvgPool2d((2, 1)), near(nn.AdaptiveAvgPool2d, 1, on=(2, 4, 6, 6))
        self.flat, self.whole = nn.Flatten(), nn.Flatten(0)
        self.conv, self.gate = nn.Conv2d(3, 4, 1), nn.Conv2d(4, 4, 1)
        self.tail = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
        lived(self)

    def forward(self, images: Tensor, mean: Tensor, std: Tensor) -> tuple[Tensor, ...]:
        x = self.conv(images)
        torch.sigmoid(mean)
        shared, apart = self.one(x), self.pair(input=images)
        return (
            torch.flatten(self.one(x), 1),
            self.flat(apart),
            self.pair(x * 2).flatten(start_dim=1),
            self.grid(x).flatten(1),
            self.flat(self.row(x)),
            self.column(x).flatten(1),
            shared.flatten(1),
            shared + 1,
            self.whole(self.one(x)),
            self.one(x).flatten(2),
            self.one(x).flatten(1, 2),
            self.pair(x),
            x.flatten(1),
            self.tail(x + 1),
            torch.flatten(input=self.one(x), start_dim=1),
            self.one(x).flatten(),
            self.gate(self.one(x)),
            self.one(x) + 1,
            *(one(x).flatten(1) for one in self.near.values()),
        )


USAGE = Usage(
    "edit",
    cases=(
        Case("the network of the project", ResNet, images()),
        Case("pools of every kind", Pools, images(), unseen=True),
    ),
)
