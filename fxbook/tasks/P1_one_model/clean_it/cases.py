"""Networks in eval mode with parts that only training needs: dropouts, identities and a dead head."""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.neighbours import near

from ..cases import Block, functional, images, lived


class ResNet(nn.Module):
    """The network of the project, in eval mode and without its flag."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.blocks = nn.Sequential(Block(4, 4), Block(4, 6, 2))
        self.auxiliary = nn.Sequential(nn.Conv2d(6, 3, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.pool, self.drop, self.head = nn.AdaptiveAvgPool2d(1), nn.Dropout(0.2), nn.Linear(6, 3)
        lived(self)

    def forward(self, images: Tensor, mean: Tensor, std: Tensor | float = 1.0) -> Tensor:
        x = self.blocks(functional.relu(self.norm(self.stem((images - mean) / std))))
        self.auxiliary(x)
        return self.head(self.drop(self.pool(x).flatten(1)))


class Crowded(nn.Module):
    """One dropout that is called several times: after an identity, twice on the same value, by keyword, and with a
    returned result; a dropout that drops nothing; other kinds of dropout; an identity with arguments; a dead chain with
    a norm, which has the name of a nested norm; and an unused input.
    """

    def __init__(self) -> None:
        super().__init__()
        self.drop, self.same = nn.Dropout(0.3), nn.Identity("ignored", size=3)
        inside = {"conv": nn.Conv2d(3, 4, 1), "drop": nn.Dropout2d(0.2), "same": nn.Identity()}
        self.body = nn.Sequential(OrderedDict(inside, norm=nn.BatchNorm2d(4)))
        self.norm, self.near = nn.BatchNorm2d(4), near(nn.Dropout2d, 0.3, on=(2, 4, 6, 6))
        self.spare = nn.Sequential(nn.Conv2d(4, 2, 1), nn.BatchNorm2d(2), nn.ReLU())
        self.act, self.flat, self.pair = nn.ReLU(), nn.Flatten(), nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.0))
        lived(self)

    def forward(self, images: Tensor, mean: Tensor, mask: Tensor) -> dict[str, Tensor]:
        x = self.drop(self.same(images))
        hidden = self.act(self.body(input=x))
        self.spare(self.norm(hidden)).mean((2, 3))
        twice = self.drop(hidden) + self.drop(input=hidden) * self.same(hidden)
        twice = twice * self.same(input=hidden) + functional.dropout(hidden, 0.3, self.training)
        for one in self.near.values():
            twice = twice + one(hidden)
        torch.sigmoid(mean)
        pooled = self.flat(input=self.same(twice.mean((2, 3))))
        return {"start": x, "hidden": self.same(hidden), "scores": self.pair(pooled)}


USAGE = Usage(
    "edit",
    cases=(
        Case("the network of the project", ResNet, images()),
        Case("every kind of dropout, and an unused input", Crowded, images(), unseen=True),
    ),
)
