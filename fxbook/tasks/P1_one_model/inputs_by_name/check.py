"""Inputs by name: the list that a boxed run takes, or an error that names all missing and unknown inputs."""

from __future__ import annotations

import re

from torch import fx

from fxbook.cases import Check
from fxbook.cases.values import Value, difference, encode, kind_of
from fxbook.rules.returned import table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def expected(case: CaseView) -> tuple[list[tuple[str, Value]], list[str], list[str]]:
    """Three lists: the name and the expected item (a name or a default) of each input; missing names; unknown names."""
    traced, values = case.arguments
    assert isinstance(traced, fx.GraphModule)
    inputs = {str(node.target): node.args for node in traced.graph.find_nodes(op="placeholder")}
    missing = [name for name, default in inputs.items() if name not in values and not default]
    items = [
        (name, name if name in values else encode(default[0]) if default else None) for name, default in inputs.items()
    ]
    return items, missing, [name for name in values if name not in inputs]


@rule
def list_in_order(case: CaseView) -> Found:
    """If no name is missing or unknown, the answer returns a list with one item for each input, in graph order."""
    items, missing, unknown = expected(case)
    if missing or unknown:
        return
    seen = table_of(case.value) or {}
    if "raised" in seen:
        raised = seen["raised"][0]
        message = f"with the message “{_first_line(seen)}”"
        yield None, f"Nothing is wrong with the inputs, but your function raises {raised} {message}."
        return
    if (kind := seen.get("kind")) != "list":
        yield None, f"Your function returns an object of class {kind}, not a list."
        return
    found = seen["items"]
    if len(found) != len(items):
        yield None, f"The list has {len(found)} items, not one for each of the {len(items)} inputs."
        return
    for place, (item, (name, value)) in enumerate(zip(found, items, strict=True)):
        if difference(item, value):
            what = f"the value of `{item}`" if isinstance(item, str) else kind_of(item)
            right = f"that of `{value}`" if isinstance(value, str) else f"the default of `{name}`"
            yield None, f"Item {place} of the list is {what}, not {right}."


@rule("08_boxed_run#a-box-that-is-emptied")
def dict_is_emptied(case: CaseView) -> Found:
    """After the call, the dict is empty; after an error, it is unchanged."""
    _, missing, unknown = expected(case)
    seen = table_of(case.value) or {}
    if (missing or unknown) and "raised" in seen and not seen["left"]:
        yield None, "An error is raised, but the dict has changed."
    if not (missing or unknown) and seen.get("left"):
        left = seen["left"][0]
        yield None, f"The dict still holds `{left}`: empty it."


@rule("07_placeholder#runtimeerror-expected-positional-argument-for-parameter-mask-but-one-was-not-passed-in")
def errors_name_the_faults(case: CaseView) -> Found:
    """If names are missing or unknown, the answer raises a TypeError whose message names these and no other input."""
    items, missing, unknown = expected(case)
    if not (missing or unknown):
        return
    seen = table_of(case.value) or {}
    faults = ", ".join(f"`{name}`" for name in (*missing, *unknown))
    if "raised" not in seen:
        yield None, f"No error is raised, although these names are missing or unknown: {faults}."
        return
    if "TypeError" not in seen["raised"]:
        raised = seen["raised"][0]
        yield None, f"Your function raises {raised}, not TypeError: {_first_line(seen)}."
    message = str(seen["message"])
    for name in (*missing, *unknown):
        if not _occurs(name, message):
            what = "missing" if name in missing else "unknown"
            yield None, f"`{name}` is {what}, but the message does not name it: {_first_line(seen)}."
    for name, _ in items:
        if name not in missing and _occurs(name, message):
            yield None, f"The message names `{name}`, which is neither missing nor unknown: {_first_line(seen)}."


def _occurs(word: str, message: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message) is not None


def _first_line(seen: dict[str, Value]) -> str:
    line = (str(seen.get("message")).strip().splitlines() or [""])[0].rstrip(".")
    return line if len(line) <= 120 else f"{line[:120]}…"


CHECK = Check((list_in_order, errors_name_the_faults, dict_is_emptied))
