"""The models that the exercises of chapter 00 are tried on."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.asking.exercise import one_of


class Classifier(nn.Module):
    """The classifier of the chapter; ``auxiliary`` is used by nothing."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.hidden = nn.Linear(4, width)
        self.head = nn.Linear(width, 3)
        self.auxiliary = nn.Linear(width, 1)
        self.temperature = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: Tensor) -> Tensor:
        features = self.hidden(x).relu()
        return (self.head(features) / self.temperature).softmax(dim=-1)


class Recurrent(nn.Module):
    """Layers that run in another order than they are defined in: one twice, one never, one inside a block."""

    def __init__(self) -> None:
        super().__init__()
        self.decode = nn.Linear(6, 5)
        self.unused = nn.Linear(6, 6)
        self.encode = nn.Sequential(nn.Linear(5, 6), nn.Tanh())
        self.step = nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        state = self.encode(x)
        return self.decode(self.step(self.step(state)))


class Dense(nn.Module):
    """A value read by four nodes: twice by one of them, inside a list by another, by name by a third."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        features = self.block(x)
        doubled = features + features
        joined = torch.cat([x, features], dim=-1)
        gated = torch.mul(input=doubled, other=features)
        return torch.cat([joined, gated.relu(), features.tanh()], dim=-1)


class Drawn(nn.Module):
    """Layers with names, an order and calls that are drawn: one is never called, and one is called twice."""

    def __init__(self) -> None:
        super().__init__()
        names = ("first", "query", "gate", "mix", "norm", "out", "lift", "left")
        chosen = [names[place] for place in torch.randperm(len(names))[:4].tolist()]
        for name in chosen:
            self.add_module(name, one_of(nn.Linear(4, 4), nn.LayerNorm(4)))
        called = chosen[1:] + chosen[1:2]
        self.order = tuple(called[place] for place in torch.randperm(len(called)).tolist())

    def forward(self, x: Tensor) -> Tensor:
        for name in self.order:
            x = self.get_submodule(name)(x).tanh()
        return x


class NamedRelu(nn.Module):
    """Two calls to be changed, in two spellings, and a submodule of the same name that is to stay."""

    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        kept = self.relu(self.mix(x))
        return torch.relu(kept - 0.3) + (self.mix(kept) - 0.1).relu()


class Tied(nn.Module):
    """Two layers with one weight, of which the second is called; a constant made in ``forward``."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(4, 4, bias=False)
        self.decoder = nn.Linear(4, 4, bias=False)
        self.decoder.weight = self.encoder.weight
        self.spare = nn.Linear(4, 4)
        self.gain = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(x) * self.gain - torch.tensor([0.5, 0.5, 0.5, 0.5])


class Tagger(nn.Module):
    """Takes tokens, not numbers; of two layers with equal values one is used, and one layer is called by nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 6)
        self.norm = nn.LayerNorm(6)
        self.spare_norm = nn.LayerNorm(6)
        self.tag = nn.Linear(6, 3)
        self.spare = nn.Linear(6, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.tag(self.norm(self.embed(tokens)))


class FourSpellings(nn.Module):
    """An MLP with ReLU as method, torch function, functional and module."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))
        self.activation = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        first, second, third, fourth = self.layers
        x = first(x).relu()
        x = torch.relu(second(x))
        x = nn.functional.relu(third(x))
        return self.activation(fourth(x))


class Residual(nn.Module):
    """Blocks of their own with a ReLU inside, one called twice; a leaky ReLU, which is to stay."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Sequential(nn.Linear(5, 5), nn.ReLU(inplace=True))
        self.block = nn.Sequential(nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, 5))
        self.relu = nn.Linear(5, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.enter(x)
        x = x + self.block(x)
        x = x + self.block(x)
        return nn.functional.leaky_relu(self.relu(nn.functional.relu(x, inplace=True)), 0.2)
