"""The models on which the exercises of chapter 09 are tried: what is counted on them, and a GPT to repair."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

# ---- models whose work and memory are counted ------------------------------------------------------------------------


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.conv2(torch.relu(self.norm1(self.conv1(x)))))


class ResNet(nn.Module):
    """The network of the chapter, smaller."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.block = Block(4)
        self.project = nn.Conv2d(4, 24, 1)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(24, 5)
        self.eval()

    def forward(self, images: Tensor) -> Tensor:
        x = self.pool(self.project(self.block(torch.relu(self.stem(images)))))
        return self.head(x.flatten(1))


class Weighted(nn.Module):
    """A product that no submodule of its own makes."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight


class Twice(nn.Module):
    """Products made by the root itself and inside submodules, one of which is called twice; nested two deep."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Sequential(nn.Sequential(nn.Linear(6, 6), nn.GELU()), Weighted(6))
        self.gate = nn.Linear(6, 6)
        self.weight = nn.Parameter(torch.randn(6, 6))

    def forward(self, x: Tensor) -> Tensor:
        mixed = self.mix(self.mix(x)) @ self.weight
        return torch.sigmoid(self.gate(mixed)) * mixed


class Views(nn.Module):
    """Views, an operation in place, a tuple of two results, a weight and a view of one, a value kept for the end."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 12)
        self.scale = nn.Parameter(torch.randn(12))
        self.mix = nn.Parameter(torch.randn(4, 4))

    def forward(self, x: Tensor) -> Tensor:
        left, middle, right = (self.project(x) * self.scale).split(4, dim=-1)
        flat = nn.functional.relu(left + middle @ self.mix.t(), inplace=True).reshape(-1, 2)
        largest, places = torch.topk(x, 4)
        return torch.cat([flat.reshape(-1, 4), right, largest, places.float()], dim=0)


# ---- a small GPT with a bottleneck -----------------------------------------------------------------------------------


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, length: int) -> None:
        super().__init__()
        self.heads = heads
        self.scale = (width // heads) ** -0.5
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.register_buffer("hidden", torch.ones(length, length).triu(1).bool())

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = self._by_head(q), self._by_head(k), self._by_head(v)
        scores = q @ k.transpose(-2, -1) * self.scale
        weights = scores.masked_fill(self.hidden, float("-inf")).softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))

    def _by_head(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Layer(nn.Module):
    def __init__(self, width: int, heads: int, length: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads, length)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """Scores of the next token, for a context of fixed length; the head works on every position of it."""

    def __init__(self, words: int, width: int, heads: int, length: int, depth: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(words, width)
        self.positions = nn.Parameter(torch.randn(length, width) / 10)
        self.layers = nn.Sequential(*(Layer(width, heads, length) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words)

    def hidden(self, tokens: Tensor) -> Tensor:
        return self.layers(self.tokens(tokens) + self.positions)

    def forward(self, tokens: Tensor) -> Any:
        scores = self.head(self.norm(self.hidden(tokens)))
        return scores[:, -1]

    def without_bottleneck(self, tokens: Tensor) -> Any:
        """The same scores, where the head works on the one position that is returned."""
        return self.head(self.norm(self.hidden(tokens)[:, -1]))


class OtherGPT(GPT):
    """Another size and other names; a head of two layers, a softmax behind it, and a second reader of the norm."""

    def __init__(self, words: int, width: int, heads: int, length: int, depth: int) -> None:
        super().__init__(words, width, heads, length, depth)
        self.final = self.norm
        self.to_width = nn.Linear(width, 16 * width)
        self.to_words = nn.Linear(16 * width, words)
        del self.norm, self.head

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        normed = self.final(self.hidden(tokens))
        return self._scored(normed)[:, -1].softmax(dim=-1), normed.mean(dim=1)

    def _scored(self, x: Tensor) -> Tensor:
        return self.to_words(torch.tanh(self.to_width(x)))

    def without_bottleneck(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        normed = self.final(self.hidden(tokens))
        return self._scored(normed[:, -1]).softmax(dim=-1), normed.mean(dim=1)


class MixingGPT(GPT):
    """Behind the layers stands a convolution that mixes the positions: it needs them all."""

    def __init__(self, words: int, width: int, heads: int, length: int, depth: int) -> None:
        super().__init__(words, width, heads, length, depth)
        self.mixing = nn.Conv1d(length, length, 1)

    def hidden(self, tokens: Tensor) -> Tensor:
        return self.mixing(super().hidden(tokens))


class Faster(nn.Module):
    """A GPT without the bottleneck, to be compared with it."""

    def __init__(self, model: GPT) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor) -> Any:
        return self.model.without_bottleneck(tokens)
