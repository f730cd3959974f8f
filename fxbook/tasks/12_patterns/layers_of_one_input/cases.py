"""Graphs in which linear layers share an input: blocks from Llama, and layers called in every way."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of
from fxbook.cases.neighbours import near
from fxbook.cases.running import with_changes

from ..cases import WIDTH, graph_of, llama_layer


class FeedForward(nn.Module):
    """The norm and the feed-forward block of Llama; and a value that nothing uses."""

    def __init__(self) -> None:
        super().__init__()
        layer = llama_layer()
        self.norm, self.mlp = layer.post_attention_layernorm, layer.mlp

    def forward(self, x: Tensor) -> Tensor:
        torch.exp(x)
        return x + self.mlp(self.norm(x))


class Attention(nn.Module):
    """Attention with the layers of Llama: three layers share an input, and one has another input."""

    def __init__(self) -> None:
        super().__init__()
        layer = llama_layer()
        self.norm, self.attention = layer.input_layernorm, layer.self_attn

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.norm(x)
        query = self.attention.q_proj(hidden)
        key, value = self.attention.k_proj(hidden), self.attention.v_proj(hidden)
        scores = torch.softmax(query[..., : key.shape[-1]] @ key.transpose(-1, -2), -1)
        return x + self.attention.o_proj(torch.cat([scores @ value, scores @ value], -1))


class Spelled(nn.Module):
    """Layers as modules and functions: with keyword arguments, shared, in alternation, without a bias or users; a layer
    whose result is used as a weight; and nodes on the same input that resemble a linear layer in class, name or weight.
    """

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH, place > 0) for place in range(int(one_of(3, 4, 5))))
        self.shared = nn.Linear(WIDTH, WIDTH)
        self.norms = nn.Sequential(nn.LayerNorm(WIDTH))
        self.conv = nn.Conv1d(3, 3, 1)
        self.weight = nn.Parameter(torch.randn(WIDTH, WIDTH))
        self.near, self.proj = near(nn.Linear, WIDTH, WIDTH, on=(2, WIDTH)), nn.Tanh()
        self.table = nn.Embedding(WIDTH, WIDTH)
        # New in torch 2.13.
        losses = [kind(WIDTH, WIDTH) for name, kind in vars(nn).items() if name == "LinearCrossEntropyLoss"]
        self.losses = nn.ModuleList(losses)

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        ends = [layer(x) + self.shared(y) for layer in self.layers]
        normed = self.norms(x)
        first = nn.functional.linear(normed, self.weight)
        second = nn.functional.linear(weight=self.weight, input=normed)
        alone = self.shared(self.conv(x)) + self.conv(y)
        weight = self.shared(first[0])
        last = nn.functional.linear(first, weight[:2]), torch.relu(first)
        z, words = torch.tanh(y), y.argmax(-1)
        self.shared(z)
        others = [one(z) for one in self.near.values()]
        others += [self.proj(z), torch.matmul(z, self.weight), self.table(words), self.table(words)]
        return *ends, second, alone, *last, *others, *(loss(z, words) for loss in self.losses)


class Heads(nn.Module):
    """A layer, and three heads that use its result; the heads are the last layers of the model."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(WIDTH, WIDTH)
        self.heads = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x: Tensor) -> list[Tensor]:
        hidden = torch.relu(self.body(x))
        return [head(hidden) for head in self.heads]


def with_heads_moved(model: nn.Module) -> tuple[fx.Graph]:
    """Pass the graph after moving the last head before the others; ``users`` keeps its former order."""
    [graph] = graph_of(model)
    first, _, last = graph.find_nodes(op="call_function", target=torch.relu)[0].users
    first.prepend(last)
    return (graph,)


class Single(nn.Module):
    """No two layers share an input, although a layer and other nodes do."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x) + torch.relu(x) + x


USAGE = Usage(
    "compute",
    cases=(
        Case("the feed-forward block of Llama", FeedForward, tuple),
        Case("the attention of Llama", Attention, tuple),
        Case("layers called in every way", Spelled, tuple, unseen=True),
        Case("no shared input", Single, tuple, unseen=True),
        Case("heads at the end, one of them moved", Heads, tuple, unseen=True, given=with_heads_moved),
    ),
    given=graph_of,
    call=with_changes,
)
