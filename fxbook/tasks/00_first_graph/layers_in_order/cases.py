"""Models that do not call their layers in the order in which the layers are defined."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage, eager

from ..cases import Attending, Classifier, NamedAlike, RandomLayers, Recurrent, returned_as_list, rows


class Probed(nn.Module):
    """The result of ``probe_1`` has no users; ``start`` gets a parameter, not a value that depends on the input.

    ``mix`` runs first and last.

    An input and a method have the names of layers that are never called.
    """

    def __init__(self) -> None:
        super().__init__()
        self.spare = nn.Linear(4, 4)
        self.start = nn.Linear(4, 4)
        self.state = nn.Parameter(torch.rand(4))
        self.mix = nn.Linear(4, 4)
        self.probe_1 = nn.Identity()
        self.tanh = nn.Tanh()

    def forward(self, spare: Tensor) -> Tensor:
        mixed = self.mix(spare)
        self.probe_1(mixed)
        return self.mix(mixed.tanh() * self.start(self.state))


USAGE = Usage(
    "compute",
    cases=(
        Case("the classifier", Classifier, rows(4)),
        Case("a model that calls a layer twice", Recurrent, rows(5), unseen=True),
        Case("a model with a layer that contains another", Attending, rows(4), unseen=True),
        Case("a model with names that begin alike", NamedAlike, rows(4), unseen=True),
        Case("a model with a layer whose result is unused", Probed, rows(4), unseen=True),
        Case("a model with random layers", RandomLayers, rows(4), unseen=True),
    ),
    given=eager,
    call=returned_as_list,
)
