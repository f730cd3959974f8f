"""What chapters that are not in ``fxbook/tasks`` yet are written with; it goes with the last of them."""

from __future__ import annotations

import dataclasses
from typing import Any

from fxbook.asking import exercise, explained, predicates
from fxbook.asking.rule import Rule, Violation
from fxbook.asking.rule import first_violation as first
from fxbook.asking.values import difference, encode
from fxbook.asking.view import CaseView

Property = Rule
compiled, has_reader, has_output, well_formed = (
    explained.recompiled,
    explained.no_dead_nodes,
    explained.has_output,
    explained.lints,
)


def as_rule(holds: Any) -> Rule:
    return holds if isinstance(holds, Rule) else _Old(holds.__name__, holds)


class _Old(Rule):
    def __call__(self, case: CaseView) -> Violation | None:
        if self.condition is not None and not self.condition(case):
            return None
        found = self.find(case)
        if found is None:
            return None
        found = first(case, self.reasons) or found
        found = found if found.rule else dataclasses.replace(found, rule=self.name)
        return dataclasses.replace(found, look=self.place) if self.place else found


def first_violation(case: CaseView, properties: Any) -> Violation | None:
    return first(case, map(as_rule, properties))


def same_result_or(*diagnoses: Any) -> Rule:
    return predicates.same_result.or_because(*map(as_rule, diagnoses))


def look(read: str, *properties: Any) -> Rule:
    return _Old("look", lambda case: first_violation(case, properties), place=read)


def where(condition: Any, *properties: Any) -> Rule:
    return _Old("where", lambda case: first_violation(case, properties), condition=condition)


def configurable(function: Any) -> Any:
    return lambda *args, **kwargs: _Old(function.__name__, lambda case: function(case, *args, **kwargs))


@configurable
def value_is(case: CaseView, expected: Any) -> Violation | None:
    if differs := difference(case.value, encode(expected(*case.arguments))):
        return Violation(f"The answer is not the one asked for: {differs}.")
    return None


def Exercise(properties: Any = (), **fields: Any) -> exercise.Exercise:  # noqa: N802
    return exercise.Exercise(rules=tuple(map(as_rule, properties)), **fields)


def pairs(case: CaseView) -> list[Any]:
    return list(case.kept())
