"""A check refuses its own solution made slightly wrong, in every way; tests/cold tries other right answers too."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from fxbook import tasks
from tests.mutation import table
from tests.mutation.listed import listed, path_of
from tests.mutation.mutants import mutants_of
from tests.mutation.programs import solution_of
from tests.mutation.trying import trials

# Those whose mutants have been judged; the others have been written since.
JUDGED = [identity for identity in tasks.ids() if path_of(identity).exists()]


@pytest.mark.parametrize("identity", JUDGED)
def test_the_solution_made_wrong_is_refused(identity: str, record_property: Callable[[str, object], None]) -> None:
    known = listed(identity)
    wrong = [mutant for mutant in mutants_of(solution_of(identity)) if mutant.key not in known]
    tried = list(trials(wrong, seeds=(1,)))
    assert tried, "no mutant was made"
    record_property(table.PROPERTY, table.counts(tried, known.right))
    assert [f"{trial.mutant.key}\n{trial.mutant.diff()}" for trial in tried if trial.survived] == []


def test_what_does_not_pass_whole_is_refused_before_its_mutants() -> None:
    solution = solution_of("00-readers")
    broken = dataclasses.replace(solution, texts=("missing[0]", *solution.texts), own=(len(solution.texts),))
    with pytest.raises(ValueError, match=r"00-readers: solution itself does not pass \(NameError\)"):
        list(trials(mutants_of(broken), seeds=(1,)))


def test_of_a_sheet_only_what_an_answer_reads_is_kept() -> None:
    # The sheet calls a graph that its backend was given `module`, as the answer calls its argument.
    assert "module, example_inputs =" not in solution_of("11-name-the-inputs").source()
