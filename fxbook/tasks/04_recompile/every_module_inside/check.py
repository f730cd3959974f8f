"""Bring everything inside up to date."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import noted, texts


@rule
def graphs_kept(case: CaseView) -> Found:
    """The graphs are unchanged, and still contain the edits."""
    for path in texts(noted(case).get("changed")):
        yield None, f"The graph of {_named(path)} has changed: only its code should change."


@rule("04_recompile#recompile-goes-down-to-children-not-to-everything-inside")
def all_up_to_date(case: CaseView) -> Found:
    """No traced module inside the model is stale, and none was replaced with a new one."""
    for path in texts(noted(case).get("replaced")):
        yield None, f"The traced module `{path}` is gone: recompile the module itself, and keep it in the model."
    for path in texts(noted(case).get("stale")):
        if noted(case).get("elsewhere"):
            yield None, "You return another module: the one that you were given is still stale."
        inside = f"A traced module inside the model is still stale: `{path}`."
        yield None, inside if path else "The model itself is still stale."


def _named(path: str) -> str:
    return f"`{path}`" if path else "the model itself"


CHECK = Check((graphs_kept, all_up_to_date))
