"""Layers that passes look for and random graphs lack, made for a given number of features."""

from __future__ import annotations

import torch
from torch import Tensor, nn

aten, functional = torch.ops.aten, nn.functional


class Attention(nn.Module):
    """Attention between the rows of one value, as single operations."""

    def forward(self, x: Tensor) -> Tensor:
        heads = x[None, None]
        scores = heads @ heads.transpose(-2, -1) / x.shape[-1] ** 0.5
        return (scores.softmax(-1) @ heads)[0, 0]


class Normed(nn.Module):
    """A linear layer and a trained batch norm."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(features, features), nn.BatchNorm1d(features)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.linear(x))


class Scaled(nn.Module):
    """A scale that is stored as its logarithm."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.logarithm = nn.Parameter(torch.ones(features))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.logarithm.exp()


class Clamped(nn.Module):
    """Clamps that are written in three ways."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.clamp(x, -1, 1) + x.clip(max=0.25) + torch.clip(min=-0.5, input=x)


class Neutral(nn.Module):
    """Calls that change no value except the sign of a zero."""

    def forward(self, x: Tensor) -> Tensor:
        return x * 1 + 0


class Heads(nn.Module):
    """Multi-head attention between the rows of one value, with linear layers around it."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.heads, self.features = 2 if features % 2 == 0 else features, features
        self.query, self.key, self.value, self.out = (nn.Linear(features, features) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        shape = (1, -1, self.heads, self.features // self.heads)
        parts = [part(x).view(shape).transpose(1, 2) for part in (self.query, self.key, self.value)]
        found = functional.scaled_dot_product_attention(*parts)
        return self.out(found.transpose(1, 2).reshape(-1, self.features))


class Masked(nn.Module):
    """Attention as ATen operators, with a scale and a mask."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.register_buffer("mask", torch.zeros(1, 1))

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = x[None, None], x.sin()[None, None], x.cos()[None, None]
        scores = aten.matmul.default(query, aten.transpose.int(key, 2, 3))
        scores = aten.add.Tensor(aten.mul.Tensor(scores, 0.5), self.mask)
        return aten.matmul.default(aten.softmax.int(scores, -1), value)[0, 0]


def dropout(_: int) -> nn.Module:
    return nn.Dropout(0.5)


def linear(features: int) -> nn.Module:
    return nn.Linear(features, features)


def relu(_: int) -> nn.Module:
    return nn.ReLU()
