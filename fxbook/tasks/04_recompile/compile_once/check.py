"""Compile once."""

from __future__ import annotations

from typing import Any

from torch import Tensor, fx, nn

from fxbook.cases import Check
from fxbook.cases.values import difference, encode
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..cases import relus
from ..check import left_well, noted, texts


def with_gelu(traced: fx.GraphModule, x: Tensor) -> Any:
    for node in relus(traced.graph):
        node.target = nn.functional.gelu
    traced.recompile()
    return traced(x)


@rule
def changed_as_asked(case: CaseView) -> Found:
    """Every call to ``torch.relu`` is gone, and every other call is still there."""
    for name in texts(noted(case).get("left")):
        if noted(case).get("elsewhere"):
            yield None, "You return another module: the one that you were given still calls torch.relu."
        yield None, f"Node `{name}` still calls torch.relu."
    gone = texts(noted(case).get("gone"))
    dead = [f"{node.op} of {node.target}" for node in case.before if "dead" in node.notes]
    for call in gone:
        if gone.count(call) == dead.count(call):
            yield None, f"The {call} that no node uses is gone: dead nodes should stay too."
        yield None, f"The {call} is gone: only calls to torch.relu should change."
    match noted(case).get("made"):
        case [[str(name), str(kind)], *_]:
            yield None, f"Node `{name}` calls the class `{kind}`: that makes a layer, and does not apply it."


@rule
def result_as_asked(case: CaseView) -> Found:
    """A call to the module computes GELU in place of ``torch.relu``."""
    if differs := difference(noted(case).get("result"), encode(with_gelu(*case.arguments))):
        yield None, f"The result is not the one asked for: {differs}."


@rule("04_recompile#compile-once-at-the-end")
def compiled_once(case: CaseView) -> Found:
    """The module is compiled once, or not at all if there is nothing to change."""
    count = noted(case).get("compiles")
    needed = any(node.target == "torch.relu" for node in case.before)
    if isinstance(count, int) and count > needed:
        times = "once" if count == 1 else f"{count} times"
        yield None, f"The module is compiled {times}{', not once' if needed else ', but there was nothing to change'}."


CHECK = Check((changed_as_asked, left_well, result_as_asked, compiled_once))
