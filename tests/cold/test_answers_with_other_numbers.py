"""Answers are judged the same whatever weights and inputs are drawn (slow)."""

from __future__ import annotations

import pytest

from fxbook.tasks.answering import KnownAnswer
from tests.checking.test_answers import ANSWERS, is_told, passes

SEEDS = (2, 3, 2**20)
ROWS = [(identity, one) for identity, answers in ANSWERS.items() for one in answers]


@pytest.mark.parametrize(("identity", "one"), ROWS, ids=[f"{identity}-{one.name}" for identity, one in ROWS])
def test_the_report_is_the_same_for_other_numbers(identity: str, one: KnownAnswer) -> None:
    for seed in SEEDS:
        (is_told if one.violated else passes)(identity, one, seed)
