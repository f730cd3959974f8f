"""Swap what is called."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.asking import Check
from fxbook.asking.explained import given_edited, lints, recompiled
from fxbook.asking.families import RELU, TANH, Family, family
from fxbook.asking.predicates import calls, edited, no_dead_nodes, none_left, same_result
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView

from ..cases import Classifier
from ..check import target_fits_op
from .cases import NamedRelu

# A submodule is no target of the table.
CALLED_RELU = family("relu")
RELU_MODULE = Family("the submodule `relu`, which is to stay", modules=RELU.modules)


def with_tanh(model: nn.Module, x: Tensor) -> Tensor:
    """The model with ``tanh`` for each relu that the table names."""
    if isinstance(model, NamedRelu):
        kept = torch.relu(model.mix(x))
        functions = torch.tanh(kept - 0.3) + torch.tanh(kept - 0.6)
        return functions + torch.tanh(model.mix(kept) - 0.1) + torch.tanh(kept - 0.2)
    assert isinstance(model, Classifier)
    return (model.head(torch.tanh(model.hidden(x))) / model.temperature).softmax(dim=-1)


@rule
def submodule_stays(case: CaseView) -> Found:
    """The submodule that is called ``relu`` is still called."""
    if isinstance(case.model, NamedRelu):
        yield from calls(RELU_MODULE).find(case)


CHECK = Check(
    (
        target_fits_op,
        lints,
        recompiled,
        same_result.or_because(none_left(CALLED_RELU), calls(TANH), submodule_stays),
        no_dead_nodes,
        edited,
        given_edited,
    ),
    expected=with_tanh,
)
