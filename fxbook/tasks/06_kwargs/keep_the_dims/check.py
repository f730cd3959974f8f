"""Keep the dims."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.rules.explained import given_edited, lints, no_dead_nodes, recompiled
from fxbook.rules.predicates import others_stay, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..cases import MoreSums
from ..check import SUM, argument, keywords, keywords_kept
from .cases import Zeros


def with_dims_kept(model: nn.Module, x: Tensor) -> tuple[Tensor, ...]:
    """What the model returns with ``keepdim=True`` in every sum over a ``dim``; these sums come first in its result."""
    if isinstance(model, MoreSums):
        hidden = model.sum(x)
        kept = [hidden.sum(dim, keepdim=True) for dim in (1, -1, (0, 1), 0, 1)]
        kept += [hidden.sum((0, 1), keepdim=True, dtype=torch.float64), hidden.sum(0, keepdim=True)]
    elif isinstance(model, Zeros):
        kept = [x.sum(0, keepdim=True), x.sum(0, keepdim=True), x.sum(1, keepdim=True, dtype=torch.float64)]
        kept += [x.sum(1, keepdim=True), x.sum(1, keepdim=True)]
    else:
        kept = [x.sum(dim, keepdim=True) for dim in (0, 1, 1, -1)]
    return *kept, *model(x)[len(kept) :]


@rule("06_kwargs#typeerror-sum-got-multiple-values-for-argument-dim")
def no_argument_twice(case: CaseView) -> Found:
    """No sum gets its ``dim`` or ``keepdim`` twice, by position and by name."""
    for node in case.nodes:
        if node in SUM:
            for position, name in ((1, "dim"), (2, "keepdim")):
                if name in keywords(node) and len(node.positional) > position:
                    yield node, f"is given `{name}` twice, by position and by name"


@rule("06_kwargs#who-finds-a-wrong-keyword")
def only_sums_changed(case: CaseView) -> Found:
    """No call other than a sum has gained a keyword."""
    for node in case.nodes:
        before = case.before.named(node.name)
        if node not in SUM and before:
            for name in keywords(node):
                if name not in keywords(before):
                    yield node, f"is not a sum, but now has `{name}`"


@rule
def keep_where_a_dim_is(case: CaseView) -> Found:
    """A sum with a ``dim`` keeps its dimensions; any other sum has the same ``keepdim`` as before."""
    for node in case.nodes:
        if node in SUM:
            has_dim = argument(node, 1, "dim") is not None
            keeps = argument(node, 2, "keepdim") is True
            if has_dim and not keeps:
                yield node, "does not keep its dimensions", "06_kwargs#the-call-decides-the-place"
            before = case.before.named(node.name)
            kept = before is not None and argument(before, 2, "keepdim") is True
            over_all = "has `dim=None`" if "dim" in keywords(node) or len(node.positional) > 1 else "has no `dim`"
            if keeps and not has_dim and not kept:
                yield node, f"{over_all}, but now has `keepdim=True`: it should stay as it was"
            if kept and not has_dim and not keeps:
                yield node, f"{over_all}, but has lost its `keepdim=True`: it should stay as it was"


CHECK = Check(
    (
        lints,
        recompiled,
        same_result.or_because(no_argument_twice, only_sums_changed, keywords_kept, keep_where_a_dim_is),
        no_dead_nodes,
        others_stay(SUM),
        keep_where_a_dim_is,
        given_edited,
    ),
    expected=with_dims_kept,
)
