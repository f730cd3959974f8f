"""Answers get the same report for other random weights and inputs."""

from __future__ import annotations

import pytest

from fxbook.tasks.answering import KnownAnswer
from tests.checking.test_answers import ANSWERS, gets_its_report, passes
from tests.cold import drawn

SEEDS = drawn.seeds(3)
ROWS = drawn.some([(identity, answer) for identity, answers in ANSWERS.items() for answer in answers], 200)


@pytest.mark.parametrize(("identity", "answer"), ROWS, ids=[f"{identity}-{answer.name}" for identity, answer in ROWS])
def test_the_report_is_the_same_for_other_numbers(identity: str, answer: KnownAnswer) -> None:
    for seed in SEEDS:
        (gets_its_report if answer.violated else passes)(identity, answer, seed)
