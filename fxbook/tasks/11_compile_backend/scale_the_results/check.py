"""Check an exported program whose results were scaled: its signature, its results and its buffers."""

from __future__ import annotations

from typing import Any

from fxbook.cases import Check
from fxbook.cases.values import difference, encode
from fxbook.rules.returned import entry, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import run_program


def expected(case: CaseView) -> dict[str, Any]:
    """The results of the program before the edit, times the factor, and its buffers and inputs after the run."""
    program, factor, inputs = case.arguments
    run = run_program(program, inputs)
    return {**run, "results": [result * factor for result in run["results"]]}


@rule
def can_be_saved(case: CaseView) -> Found:
    """The answer is a program that ``torch.export.save`` accepts."""
    if kind := entry(case.value, "returned"):
        yield None, f"Your function returns an object of class {kind}: it should return the program or None."
    if why := entry(case.value, "raised"):
        yield None, f"The edited program cannot be saved and loaded: {why}."


@rule
def results_are_scaled(case: CaseView) -> Found:
    """Each result is the old result times the factor."""
    results, right = entry(case.value, "results"), expected(case)["results"]
    if not isinstance(results, list) or len(results) != len(right):
        yield None, f"The edited program no longer returns {len(right)} results."
        return
    for place, (found, result) in enumerate(zip(results, right, strict=True)):
        if differs := difference(found, encode(result)):
            yield case.before.nodes[-1], f"Result {place} is not the old result times `factor`: {differs}."


@rule
def buffers_are_kept(case: CaseView) -> Found:
    """After a run, the buffers have the same values as before the edit."""
    buffers = table_of(entry(case.value, "buffers")) or {}
    for name, buffer in expected(case)["buffers"].items():
        # A right answer may export a new program, in which the model is a submodule.
        found = [value for path, value in buffers.items() if f".{path}".endswith(f".{name}")]
        if all(difference(value, encode(buffer)) for value in found):
            message = (
                f"After a run, the buffer `{name}` has a different value than before the edit: scale only the results."
            )
            yield case.before.nodes[-1], message


@rule
def inputs_are_kept(case: CaseView) -> Found:
    """After a run, the inputs have the same values as before the edit."""
    inputs, right = entry(case.value, "inputs"), expected(case)["inputs"]
    names = [node.target for node in case.before if node.op == "placeholder"][-len(right) :]
    found = inputs["tuple"] if isinstance(inputs, dict) and "tuple" in inputs else []
    for name, value, kept in zip(names, found, right, strict=False):
        if difference(value, encode(kept)):
            message = (
                f"After a run, the input `{name}` has a different value than before the edit: scale only the results."
            )
            yield case.before.nodes[-1], message


CHECK = Check((can_be_saved, results_are_scaled, buffers_are_kept, inputs_are_kept))
