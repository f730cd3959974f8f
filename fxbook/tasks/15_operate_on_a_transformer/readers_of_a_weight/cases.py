"""Graphs with shared weights, at the two ends as in GPT-2 and in other ways; and graphs without shared weights."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of

from ..cases import WIDTH, gpt2, llama_layer


class Ends(nn.Module):
    """GPT-2 without its layers: the embedding, the norm, and the head, which shares the embedding's weight."""

    def __init__(self) -> None:
        super().__init__()
        model = gpt2()
        self.embedding, self.norm, self.head = model.transformer.wte, model.transformer.ln_f, model.lm_head
        self.extra = nn.Linear(WIDTH, WIDTH)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.extra(self.norm(self.embedding(tokens))))


class FeedForward(nn.Module):
    """The feed-forward block of Llama: three layers with three different weights."""

    def __init__(self) -> None:
        super().__init__()
        self.mlp = llama_layer().mlp

    def forward(self, x: Tensor) -> Tensor:
        return x + self.mlp(x)


class Projection(nn.Linear):
    """A linear layer whose class has another name."""


def _layer(place: int) -> nn.Linear:
    """A linear layer; every second layer is of a subclass."""
    kind = Projection if place % 2 else nn.Linear
    return kind(WIDTH, WIDTH)


class Shared(nn.Module):
    """A layer that is called twice; three layers with one frozen weight; two layers with one bias; two weights that are
    fetched and have two names, one fetched by the first name and one by the second; a weight that is also deep inside a
    leaf, and one that is also the ``weight_ih`` of a cell; a weight whose other reader has no users, and one whose
    other reader is no longer called; a weight with two names in its layer; two weights with equal numbers; and two
    weights in the same memory. Some layers are of a subclass, and some have names that are part of others. A bilinear
    layer, which is not an ``nn.Linear``, is called twice, and a buffer is fetched.
    """

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_layer(place) for place in range(9 + int(one_of(0, 1, 2))))
        order = torch.randperm(9).tolist()
        _, first, second, _, *others = (self.layers[place] for place in order)
        inside, of_cell, *rest = others
        first.weight.requires_grad_(False)
        second.weight = rest[1].weight = first.weight
        rest[0].bias = rest[1].bias
        rest[2].weight = nn.Parameter(rest[0].weight.detach().clone())
        layer = nn.TransformerEncoderLayer(WIDTH, 2, WIDTH, batch_first=True)
        self.whole, self.cell = nn.TransformerEncoder(layer, 1), nn.LSTMCell(WIDTH, WIDTH // 4)
        self.whole.layers[0].linear1.weight, self.cell.weight_ih = inside.weight, of_cell.weight
        self.again, self.fetched = order[0], order[3]
        self.block, self.output = nn.Module(), nn.Linear(WIDTH, WIDTH)
        self.block.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH, bias=False)])
        self.spare, self.view, self.idle, self.named = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.spare.weight, self.view.weight = self.output.weight, nn.Parameter(self.block.layers[0].weight.detach())
        self.idle.weight = self.view.same = self.view.weight
        self.table, self.mixed = self.named.weight, nn.Bilinear(WIDTH, WIDTH, WIDTH)
        self.alias = self.layers[self.fetched].weight
        self.shift = nn.Buffer(torch.zeros(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x).relu()
        x = self.layers[self.again](x) + nn.functional.linear(x, self.layers[self.fetched].weight)
        x = x * self.cell(x)[0].mean()
        x = self.block.layers[0](self.whole(self.view(self.named(x + self.table))))
        x = self.mixed(self.mixed(x, x), x) + self.shift
        self.spare(x)
        self.idle(x)
        return self.output(self.block.layers[1](self.block.layers[1](x)))


class Tracer(fx.Tracer):
    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, Projection) or super().is_leaf_module(m, module_qualified_name)


def traced(model: nn.Module) -> tuple[fx.GraphModule]:
    """The traced model, without the call to the layer `idle`, which the module still has.

    Tracing fetches a parameter by the first of its names, so one node is changed to fetch it by the second.
    """
    module = fx.GraphModule(model, Tracer().trace(model))
    for node in module.graph.find_nodes(op="get_attr", target="alias"):
        node.target = f"layers.{model.fetched}.weight"
    for node in module.graph.find_nodes(op="call_module", target="idle"):
        module.graph.erase_node(node)
    module.recompile()
    return (module,)


USAGE = Usage(
    "compute",
    cases=(
        Case("the ends of GPT-2", Ends, tuple),
        Case("the feed-forward block of Llama", FeedForward, tuple),
        Case("weights that are shared in every way", Shared, tuple, unseen=True),
    ),
    given=traced,
)
