"""Scale the results of an exported program, and keep its signature correct."""

from __future__ import annotations

from typing import Any

from fxbook.cases import Check
from fxbook.cases.values import difference, encode
from fxbook.rules.returned import table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import run_program


def asked(case: CaseView) -> dict[str, Any]:
    """What the program returned before the edit, times the factor, and its buffers."""
    program, factor, inputs = case.arguments
    told = run_program(program, inputs)
    return {**told, "results": [result * factor for result in told["results"]]}


@rule
def can_be_saved(case: CaseView) -> Found:
    """The answer is a program that ``torch.export.save`` accepts."""
    told = table_of(case.value) or {}
    if "returned" in told:
        yield None, f"The answer is neither a program nor None, but an object of type `{told['returned']}`."
    if "refused" in told:
        yield None, f"The edited program cannot be saved and loaded: {told['refused']}."


@rule
def results_are_scaled(case: CaseView) -> Found:
    """Each result is that of the program as it was, times the factor."""
    told, right = table_of(case.value) or {}, asked(case)
    results = told.get("results")
    if not isinstance(results, list) or len(results) != len(right["results"]):
        yield None, f"The edited program does not return {len(right['results'])} results, as before."
        return
    for place, (found, result) in enumerate(zip(results, right["results"], strict=True)):
        if differs := difference(found, encode(result)):
            yield case.before.nodes[-1], f"Result {place} is not the old result times `factor`: {differs}."


@rule
def buffers_are_kept(case: CaseView) -> Found:
    """The program writes the buffers as before."""
    told, right = table_of((table_of(case.value) or {}).get("buffers")) or {}, asked(case)["buffers"]
    for name, buffer in right.items():
        # A new program may hold the model under its own name.
        found = [value for held, value in told.items() if f".{held}".endswith(f".{name}")]
        if not any(not difference(value, encode(buffer)) for value in found):
            message = f"After a run, buffer `{name}` does not hold the same numbers as before: it is not a result."
            yield case.before.nodes[-1], message


CHECK = Check((can_be_saved, results_are_scaled, buffers_are_kept))
