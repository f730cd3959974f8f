"""The case of a clause sees a wrong answer whatever numbers are drawn."""

from __future__ import annotations

import pytest

from tests.checking.test_clauses import TABLED, unseen
from tests.cold import drawn

SEEDS = drawn.seeds(10)


@pytest.mark.parametrize("identity", drawn.some(TABLED, 6))
def test_every_clause_is_seen_with_every_seed(identity: str) -> None:
    assert [(seed, missed) for seed in SEEDS for missed in unseen(identity, seed)] == []
