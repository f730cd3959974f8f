"""GPTs whose head works on every position, of which one is returned; and the FLOPs of an answer's nodes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

# A FlopCounterMode imports this when it is first used, which takes longer than a check may: done here, before the fork.
import torch._dynamo
from torch import Tensor, fx, nn
from torch.utils.flop_counter import FlopCounterMode

from fxbook.cases import Case, Usage


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


class OtherGPT(GPT):
    """Another size and other names; a head of two layers, a softmax after it, and a second user of the norm."""

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
    """Its head is a module of its own: two layers, and a norm between them; a second user of the sum below its norm."""

    def __init__(self, words: int, width: int, heads: int, length: int, depth: int) -> None:
        super().__init__(words, width, heads, length, depth)
        self.head = nn.Sequential(nn.Linear(width, 32 * width), nn.LayerNorm(32 * width), nn.Linear(32 * width, words))

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.hidden(tokens)
        return self.head(self.norm(hidden))[:, -1], hidden.mean(dim=1)


class MixingGPT(GPT):
    """Behind the layers stands a step that mixes the positions: it needs them all."""

    def __init__(
        self, mixing: Callable[[Tensor], Tensor], words: int, width: int, heads: int, length: int, depth: int
    ) -> None:
        super().__init__(words, width, heads, length, depth)
        self.mixing = mixing

    def hidden(self, tokens: Tensor) -> Tensor:
        return self.mixing(super().hidden(tokens))


class ScoringGPT(GPT):
    """Every score is used, the last ones once more; of another layer only a part is, which is no position."""

    def __init__(self, words: int, width: int, heads: int, length: int, depth: int) -> None:
        super().__init__(words, width, heads, length, depth)
        self.gate = nn.Linear(width, 2)

    def forward(self, tokens: Tensor) -> tuple[Tensor, ...]:
        hidden = self.hidden(tokens)
        scores = self.head(self.norm(hidden))
        return scores[:, -1], scores.mean(dim=1), self.gate(hidden)[..., :1]


class RankingGPT(GPT):
    """A softmax over the positions stands right in front of the selection: nothing can be moved."""

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.norm(self.hidden(tokens))).softmax(dim=1)[:, -1]


def small_gpt() -> GPT:
    return GPT(words=4096, width=32, heads=2, length=32, depth=2).eval()


def other_gpt() -> GPT:
    return OtherGPT(words=512, width=24, heads=3, length=20, depth=3).eval()


def nested_gpt() -> GPT:
    return NestedGPT(words=128, width=8, heads=2, length=8, depth=1).eval()


def mixing_gpt() -> GPT:
    # As it is made, in training: so is the result.
    return MixingGPT(nn.Conv1d(12, 12, 1), words=1024, width=16, heads=2, length=12, depth=1)


def mixing_by_function() -> GPT:
    return MixingGPT(lambda x: torch.cumsum(x, dim=1), words=32, width=4, heads=1, length=4, depth=1).eval()


def mixing_by_method() -> GPT:
    return MixingGPT(lambda x: x.softmax(dim=1), words=32, width=4, heads=1, length=4, depth=1).eval()


def scoring_gpt() -> GPT:
    return ScoringGPT(words=32, width=4, heads=1, length=4, depth=1).eval()


def ranking_gpt() -> GPT:
    return RankingGPT(words=32, width=4, heads=1, length=4, depth=1).eval()


def tokens(words: int, *shape: int) -> Callable[[], tuple[Tensor, ...]]:
    """One batch of tokens."""
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
    """What the answer returns, made so that running it also gives the FLOPs of its nodes: ``(result, by_name)``."""
    result = answer(model)
    if isinstance(result, fx.GraphModule):
        forward, flops = result.forward, {}

        # Wrapped openly, so that the code that forward runs can still be read.
        @functools.wraps(forward)
        def with_flops(*inputs: Any) -> tuple[Any, dict[str, int]]:
            value = forward(*inputs)
            if not flops:
                # Once: they depend on the shapes of the inputs only.
                flops.update(flops_by_node(result, *inputs))
            return value, flops

        result.forward = with_flops  # type: ignore[method-assign]
    return result


USAGE = Usage(
    "pass",
    cases=(
        Case("the GPT of the exercise", small_gpt, tokens(4096, 4, 32)),
        Case("a GPT of another size and other names", other_gpt, tokens(512, 3, 20), unseen=True),
        Case("a GPT with a norm inside its head", nested_gpt, tokens(128, 1, 8), unseen=True),
        Case("a GPT that mixes positions", mixing_gpt, tokens(1024, 2, 12), unseen=True),
        Case("a GPT that adds up positions", mixing_by_function, tokens(32, 2, 4), unseen=True),
        Case("a GPT that mixes positions by a method", mixing_by_method, tokens(32, 2, 4), unseen=True),
        Case("a GPT of which every score is used", scoring_gpt, tokens(32, 2, 4), unseen=True),
        Case("a GPT that ranks the positions at its end", ranking_gpt, tokens(32, 2, 4), unseen=True),
    ),
    call=counted,
)
