"""The judge outside the sandbox agrees with `check` on every answer that is a graph.

The room *classroom* tests one wrong answer and the solution of each exercise.
"""

from __future__ import annotations

import pytest

from classroom.tests.judge.test_judging import (
    ENDS_WELL,
    assert_failing,
    assert_passing,
    on_one_thread,  # noqa: F401  (a fixture)
)
from fxbook.tasks import all_exercises
from fxbook.tasks.answering import answers_to
from tests.cold import drawn

GRAPHS = [exercise.id for exercise in all_exercises() if exercise.usage.use != "compute"]
with_some_graphs = pytest.mark.parametrize("identity", drawn.some(GRAPHS, 8))


@with_some_graphs
def test_right_answers_pass_and_are_rebuilt(identity: str) -> None:
    assert_passing(identity, [answer for answer in answers_to(identity) if not answer.violated])


@with_some_graphs
def test_both_judges_agree_on_wrong_answers(identity: str) -> None:
    assert_failing(identity, [answer for answer in answers_to(identity) if answer.violated not in ("", ENDS_WELL)])
