"""Models with parameters that are used in every possible way, and with unused parameters."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage, eager

from ..cases import Attending, Classifier, Dense, NamedAlike, RandomLayers, Recurrent, returned_as_list, rows


class Tied(nn.Module):
    """Two pairs of layers that share a weight; ``forward`` calls only the second of one pair, and makes constants.

    It fetches the weight of another layer, which it never calls: the bias of that layer is unused.
    """

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(4, 4, bias=False)
        self.decoder = nn.Linear(4, 4, bias=False)
        self.decoder.weight = self.encoder.weight
        self.spare = nn.Linear(4, 4)
        self.spare_twin = nn.Linear(4, 4, bias=False)
        self.spare_twin.weight = self.spare.weight
        self.mixer = nn.Linear(4, 4)
        self.gain = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.decoder(x) @ self.mixer.weight * self.gain
        return hidden - torch.tensor([0.5, 0.5, 0.5, 0.5]) + torch.tensor(0.1)


class Tagger(nn.Module):
    """Takes tokens; uses only one of two layers with equal values, and only one of two empty parameters.

    One layer is frozen and never called; the result of another has no users; a buffer is never fetched.
    """

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 6)
        self.norm = nn.LayerNorm(6)
        self.spare_norm = nn.LayerNorm(6)
        self.tag = nn.Linear(6, 3)
        self.probe = nn.Linear(6, 3)
        self.spare = nn.Linear(6, 3).requires_grad_(False)
        self.blank, self.spare_blank = nn.Parameter(torch.empty(0)), nn.Parameter(torch.empty(0))
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, tokens: Tensor) -> Tensor:
        hidden = self.norm(self.embed(tokens))
        self.probe(hidden)
        return self.tag(hidden) + self.blank.sum()


def tokens() -> tuple[Tensor]:
    """One input: two rows of five tokens."""
    return (torch.randint(10, (2, 5)),)


def answer_and_traces(answer: Any, model: nn.Module) -> tuple[Any, list[str], list[str]]:
    """What the answer returns, the names of the model's attributes, and those of its parameters with a gradient."""
    returned = returned_as_list(answer, model)
    with_gradient = [name for name, parameter in model.named_parameters() if parameter.grad is not None]
    return returned, sorted(vars(model)), with_gradient


USAGE = Usage(
    "compute",
    cases=(
        Case("the classifier", Classifier, rows(4)),
        Case("a model that uses all its parameters", Dense, rows(4)),
        Case("a model that calls a layer twice", Recurrent, rows(5), unseen=True),
        Case("a model with tied weights and a constant", Tied, rows(4), unseen=True),
        Case("a model that takes tokens", Tagger, tokens, unseen=True),
        Case("a model with parameters in a submodule", Attending, rows(4), unseen=True),
        Case("a model with names that begin alike", NamedAlike, rows(4), unseen=True),
        Case("a model with random layers", RandomLayers, rows(4), unseen=True),
    ),
    given=eager,
    call=answer_and_traces,
)
