"""Parameters that are reached in every way, and some that nothing reaches."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from fxbook.asking import Case, Usage, eager

from ..cases import Classifier, Dense, Drawn, Recurrent, made, rows


class Tied(nn.Module):
    """Two layers with one weight, of which the second is called; constants made in ``forward``."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(4, 4, bias=False)
        self.decoder = nn.Linear(4, 4, bias=False)
        self.decoder.weight = self.encoder.weight
        self.spare = nn.Linear(4, 4)
        self.gain = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(x) * self.gain - torch.tensor([0.5, 0.5, 0.5, 0.5]) + torch.tensor(0.1)


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


class Scale(nn.Module):
    """A parameter of its own, one level down."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(4))
        self.offset = nn.Parameter(torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gain


class Attending(nn.Module):
    """A layer of ``torch.nn`` that holds another one, and a module of its own, which tracing enters."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2)
        self.scale = Scale()

    def forward(self, x: Tensor) -> Tensor:
        mixed, _ = self.attention(x, x, x)
        return self.scale(mixed)


def tokens() -> tuple[Tensor]:
    """One input: two rows of five tokens."""
    return (torch.randint(10, (2, 5)),)


def answer_and_traces(answer: Any, model: nn.Module) -> tuple[Any, list[str], list[str]]:
    """What the answer returns, the names of what the model holds afterwards, and of its parameters with a gradient."""
    returned = made(answer)(model)
    with_gradient = [name for name, parameter in model.named_parameters() if parameter.grad is not None]
    return returned, sorted(vars(model)), with_gradient


USAGE = Usage(
    "compute",
    cases=(
        Case("the classifier of the chapter", Classifier, rows(4)),
        Case("a model that uses all it has", Dense, rows(4)),
        Case("a model that calls a layer twice", Recurrent, rows(5), unseen=True),
        Case("a model with tied weights and a constant", Tied, rows(4), unseen=True),
        Case("a model that takes tokens", Tagger, tokens, unseen=True),
        Case("a model with a parameter one level down", Attending, rows(4), unseen=True),
        Case("a model with layers of its own", Drawn, rows(4), unseen=True),
    ),
    given=eager,
    call=answer_and_traces,
)
