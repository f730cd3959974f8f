"""Choose without an if."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from fxbook.cases import Check, ExtraOutput
from fxbook.cases.values import difference
from fxbook.rules.explained import no_dead_nodes
from fxbook.rules.families import family
from fxbook.rules.predicates import runs
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..cases import watched
from ..check import batch_left_alone, expected_behaviour, gradients_kept, open_to_passes, outputs, right_on_every_batch

_OF_THE_ANSWER = "batch of the answer itself"
_COMPARISON = family("gt", "ge", "lt", "le", "greater", "greater_equal", "less", "less_equal")
_MEAN = family("mean")


def expected_of_both(model: nn.Module, x: Tensor) -> dict[str, Any]:
    return {**expected_behaviour(model, x), _OF_THE_ANSWER: x}


@rule
def decides_once(case: CaseView) -> Found:
    """A reason for wrong numbers: the decision is made for each element, or for some of the dimensions."""
    for node in case.nodes:
        if node in _COMPARISON and any(case.nodes[index].op == "placeholder" for index in node.inputs):
            yield node, "compares each element: the mean of the whole tensor must decide"
        elif node in _MEAN and (len(node.positional) > 1 or "dim" in dict(node.kwargs["dict"])):
            yield node, "takes the mean over some dimensions: take the mean of the whole tensor"


@rule("01_node_creation#four-spellings-of-add")
def batch_left_alone_untraced(case: CaseView) -> Found:
    """The untraced function does not write into its batch. Tracing hides this: it records `x -= y` as `x - y`."""
    for batch, expected in outputs(case, _OF_THE_ANSWER):
        if difference(batch, expected):
            node = next((node for node in case.nodes if node.target == "operator.sub"), None)
            yield node, "Your function overwrites the batch that it gets, but its trace does not."


CHECK = Check(
    (
        runs,
        right_on_every_batch.or_because(decides_once),
        batch_left_alone,
        batch_left_alone_untraced,
        gradients_kept,
        open_to_passes,
        no_dead_nodes,
    ),
    expected=expected_of_both,
    extra_output=ExtraOutput(
        _OF_THE_ANSWER,
        again=lambda result: watched(result, nn.Module()),
        unproven="what the function itself, not its trace, does to its batch",
    ),
)
