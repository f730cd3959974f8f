"""Remove every dropout."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.rules.explained import given_edited, no_leftovers, recompiled
from fxbook.rules.families import Family
from fxbook.rules.predicates import edited, others_stay, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import arguments_kept, lints, no_dead_nodes

DROPOUT = Family("nn.Dropout", modules=frozenset({"torch.nn.Dropout"}))


def without_dropout(model: nn.Module, x: Tensor) -> Any:
    """What the model returns if every ``nn.Dropout``, and nothing else, is in eval mode."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.eval()
    return model(x)


@rule
def dropouts_taken_out(case: CaseView) -> Found:
    """Every node that called an ``nn.Dropout`` is gone, nothing replaces it, and all other calls stay."""
    now = case.now()
    for before in case.before:
        node = now.get(before.index)
        if before in DROPOUT and node and node in DROPOUT:
            yield node, "still calls an nn.Dropout"
        elif before in DROPOUT and node:
            what = f"and calls a {node.kind}" if node.kind else f"as `{node.call}`"
            yield node, f"is still in the graph, {what}: erase it"
    yield from others_stay(DROPOUT).find(case)


@rule
def uses_input_of_dropout(case: CaseView) -> Found:
    """The former users of a dropout use its input."""
    now = case.now()
    for node, before in case.kept():
        for index, was in zip(node.inputs, before.inputs, strict=False):
            wanted = was
            while case.before.nodes[wanted] in DROPOUT:
                wanted = case.before.nodes[wanted].inputs[0]
            if wanted in now and now[wanted].index != index:
                name = now[wanted].name
                of = ", the input of the dropout" if wanted != was else ""
                yield node, f"uses `{case.nodes[index].name}`, but should use `{name}`{of}"


CHECK = Check(
    (
        arguments_kept,
        lints,
        recompiled,
        edited,
        given_edited,
        dropouts_taken_out,
        same_result.or_because(uses_input_of_dropout),
        no_dead_nodes,
        no_leftovers,
    ),
    expected=without_dropout,
)
