"""No submission finds the seed or the name of a case in an exercise whose answer is data.

The room *classroom* tests one exercise of each chapter.
"""

from __future__ import annotations

import pytest

from classroom.sandbox import Sandbox
from classroom.tests.sandbox.test_cheats import DATA, printed_by, probe, sandbox  # noqa: F401  (a fixture)
from fxbook.cases import Exercise
from tests.cold import drawn


@pytest.mark.parametrize("exercise", drawn.some(DATA, 15), ids=lambda exercise: exercise.id)
def test_seed_and_case_names_are_not_found(sandbox: Sandbox, exercise: Exercise) -> None:  # noqa: F811
    assert printed_by(sandbox, exercise, probe(exercise)) == ""
