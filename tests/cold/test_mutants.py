"""A check refuses every mutant of every right answer with every seed, but for those that are right too.

The room *mutants* tries those of the solutions.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fxbook import tasks
from tests.cold import drawn
from tests.mutation import table
from tests.mutation.listed import listed
from tests.mutation.mutants import mutants_of
from tests.mutation.programs import programs_of
from tests.mutation.trying import trials


@pytest.mark.parametrize("identity", drawn.some(tasks.ids(), 3))
def test_no_mutant_passes_that_is_not_listed(identity: str, record_property: Callable[[str, object], None]) -> None:
    known = listed(identity)
    tried = list(trials(mutant for program in programs_of(identity) for mutant in mutants_of(program)))
    record_property(table.PROPERTY, table.counts(tried, known.right))
    new = [trial.mutant for trial in tried if trial.survived and trial.mutant.key not in known]
    assert [f"{mutant.key}\n{mutant.diff()}" for mutant in new] == []
    assert sorted(known.keys() - {trial.mutant.key for trial in tried}) == [], "is made no more: list it no more"
    refused = [(trial.mutant.key, trial.refused_by) for trial in tried if trial.refused_by]
    assert [each for each in refused if each[0] in known.right] == [], "it passes, says mutants.toml, and it is refused"
