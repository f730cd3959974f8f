"""Rules that exercises of chapter 04 share, on what was recorded about an answer and the module that it was given."""

from __future__ import annotations

from fxbook.cases.values import Value
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

_DOWN = "04_recompile#recompile-goes-down-to-children-not-to-everything-inside"
_LINT = "when_it_breaks/04_recompile#what-lint-can-see-and-what-recompile-finds"


def noted(case: CaseView) -> dict[str, Value]:
    """What was recorded about the answer: the items of the dict that ``Usage.call`` returned."""
    items = case.value.get("dict", []) if isinstance(case.value, dict) else []
    return {key: item for key, item in items if isinstance(key, str)}


def texts(value: Value) -> list[str]:
    """The strings in a recorded list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


@rule
def left_alone(case: CaseView) -> Found:
    """The given module still owns its graph, and nothing in it was compiled."""
    if noted(case).get("owned") is False:
        owner = "The graph now belongs to another module: a copy has taken it over."
        yield None, owner, "when_it_breaks/04_recompile#what-a-copy-keeps"
    for path in texts(noted(case).get("compiled")):
        if path:
            yield None, f"The traced submodule `{path}` was compiled: it must stay as it is.", _DOWN
        yield None, "The module was compiled: it must stay as it is."


@rule
def left_well(case: CaseView) -> Found:
    """The answer leaves the module well formed and compiled."""
    lint = noted(case).get("lint")
    if isinstance(lint, str):
        yield None, f"graph.lint() rejects the graph: {lint.rstrip('.!')}.", _LINT
    if noted(case).get("stale"):
        stale = "The graph has changed, but the compiled code is stale: calling the module runs the old code."
        yield None, stale, "04_recompile#who-sees-an-edit-at-once"
