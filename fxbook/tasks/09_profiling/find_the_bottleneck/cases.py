"""GPTs whose head computes every position, although only one is returned; and the FLOPs of an answer's nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

# Imported before the fork, because the first FlopCounterMode imports it, and that would exceed a check's time limit.
import torch._dynamo
from torch import Tensor, fx, nn
from torch.utils.flop_counter import FlopCounterMode

from fxbook.cases import Case, Usage
from fxbook.cases.running import reporting


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
    """Scores for the next token, from a context of fixed length; the head computes scores for every position."""

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


class OtherGPT(GPT):
    """Other names, a head of two layers with a softmax after it, and a second user of the norm."""

    def __init__(self, words: int, width: int, heads: int, length: int, depth: int) -> None:
        super().__init__(words, width, heads, length, depth)
        self.final = self.norm
        self.to_width = nn.Linear(width, 16 * width)
        self.to_words = nn.Linear(16 * width, words)
        del self.norm, self.head

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        normed = self.final(self.hidden(tokens))
        return self.scored(normed)[:, -1].softmax(dim=-1), normed.mean(dim=1)

    def scored(self, x: Tensor) -> Tensor:
        return self.to_words(torch.tanh(self.to_width(x)))


class NestedGPT(GPT):
    """Its head is a module that contains a norm; the norm before the head is over the positions."""

    def __init__(self, words: int, width: int, heads: int, length: int, depth: int) -> None:
        super().__init__(words, width, heads, length, depth)
        self.norm = nn.GroupNorm(1, length)
        self.head = nn.Sequential(nn.Linear(width, 32 * width), nn.LayerNorm(32 * width), nn.Linear(32 * width, words))


class MixingGPT(GPT):
    """Mixes the positions in a step that needs all of them; the last norm is also called right before this step."""

    def __init__(self, mixing: Callable[[Tensor], Tensor], *sizes: int) -> None:
        super().__init__(*sizes)
        self.mixing = mixing

    def hidden(self, tokens: Tensor) -> Tensor:
        return self.mixing(self.norm(super().hidden(tokens)))


class Weighted(nn.Module):
    """Weighted sums of all positions, and then a sum with one number for each position."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.Sequential(nn.Conv1d(12, 12, 1), nn.Softmax(dim=1))
        self.shift = nn.Parameter(torch.randn(12, 1))

    def forward(self, x: Tensor) -> Tensor:
        return self.weights(x) + self.shift


def mixing_by(make: Callable[[], Callable[[Tensor], Tensor]]) -> Callable[..., GPT]:
    return lambda *sizes: MixingGPT(make(), *sizes)


class ScoringGPT(GPT):
    """Returns all scores, those of the last position twice, and the last feature of another layer's result."""

    def __init__(self, words: int, width: int, heads: int, length: int, depth: int) -> None:
        super().__init__(words, width, heads, length, depth)
        self.gate = nn.Linear(width, 2)

    def forward(self, tokens: Tensor) -> tuple[Tensor, ...]:
        hidden = self.hidden(tokens)
        scores = self.head(self.norm(hidden))
        return scores[:, -1], scores, self.gate(hidden)[..., -1]


class RankingGPT(GPT):
    """The step before the selection is a softmax over the positions, so no step can be moved."""

    def forward(self, tokens: Tensor) -> Tensor:
        return torch.softmax(self.head(self.norm(self.hidden(tokens))), dim=1)[:, -1]


def tokens(words: int, *shape: int) -> Callable[[], tuple[Tensor, ...]]:
    """Make the inputs: one batch of random tokens."""
    return lambda: (torch.randint(words, shape),)


class _Counting(fx.Interpreter):
    """Runs a graph and counts the FLOPs of each node, by name."""

    def __init__(self, module: fx.GraphModule, counter: FlopCounterMode) -> None:
        super().__init__(module)
        self.counter = counter
        self.flops: dict[str, int] = {}

    def run_node(self, n: fx.Node) -> Any:
        before = self.counter.get_total_flops()
        value = super().run_node(n)
        self.flops[n.name] = self.counter.get_total_flops() - before
        return value


def flops_by_node(traced: fx.GraphModule, *inputs: Any) -> dict[str, int]:
    """The FLOPs of each node in one run, by name."""
    with FlopCounterMode(display=False) as counter:
        counting = _Counting(traced, counter)
        counting.run(*inputs)
    return counting.flops


def counted(answer: Callable[..., Any], model: nn.Module) -> Any:
    """The module that the answer returns, changed to return ``(result, FLOPs by node name)``."""
    flops: dict[str, int] = {}

    def report(forward: Callable[..., Any], *inputs: Any) -> tuple[Any, dict[str, int]]:
        value = forward(*inputs)
        if not flops:  # They depend only on the shapes of the inputs, so they are counted once.
            flops.update(flops_by_node(result, *inputs))
        return value, flops

    result = reporting(answer(model), report)
    return result


def _case(name: str, kind: Callable[..., GPT], *sizes: int, batch: int = 2, training: bool = False) -> Case:
    """``sizes`` are words, width, heads, length and depth."""
    inputs = tokens(sizes[0], batch, sizes[3])
    return Case(name, lambda: kind(*sizes).train(training), inputs, unseen=kind is not GPT)


USAGE = Usage(
    "pass",
    cases=(
        _case("the GPT of the exercise", GPT, 4096, 32, 2, 32, 2, batch=4),
        _case("a GPT with another size and other names", OtherGPT, 512, 24, 3, 20, 3, batch=3),
        _case("a GPT with a norm over positions", NestedGPT, 128, 8, 2, 8, 1, batch=1),
        _case("a GPT that mixes positions", mixing_by(Weighted), 1024, 16, 2, 12, 1, training=True),
        _case("a GPT that adds up positions", mixing_by(lambda: lambda x: x.cumsum(1)), 32, 4, 1, 4, 1),
        _case("a GPT whose scores are all used", ScoringGPT, 32, 4, 1, 4, 1),
        _case("a GPT that ranks the positions at its end", RankingGPT, 32, 4, 1, 4, 1),
    ),
    call=counted,
)
