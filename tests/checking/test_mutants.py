"""A check refuses its own solution made slightly wrong: two mutants of each, always the same.

tests/cold tries every mutant of every right answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from fxbook import tasks
from tests.mutation import table
from tests.mutation.listed import listed, path_of
from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.programs import solution_of
from tests.mutation.trying import trials

EACH = 2
# Those whose mutants have been judged; tests/cold asks it of all.
JUDGED = [identity for identity in tasks.ids() if path_of(identity).exists()]


def _drawn(mutant: Mutant) -> str:
    """A number for a mutant that is always the same, and tells nothing of it."""
    return hashlib.sha256(f"{mutant.program.exercise} {mutant.key}".encode()).hexdigest()


@pytest.mark.parametrize("identity", JUDGED)
def test_the_solution_made_wrong_is_refused(identity: str, record_property: Callable[[str, object], None]) -> None:
    known = listed(identity)
    wrong = [mutant for mutant in mutants_of(solution_of(identity)) if mutant.key not in known]
    tried = list(trials(sorted(wrong, key=_drawn)[:EACH], seeds=(1,)))
    assert tried, "no mutant was made"
    record_property(table.PROPERTY, table.counts(tried, known.right))
    assert [f"{trial.mutant.key}\n{trial.mutant.diff()}" for trial in tried if trial.survived] == []
