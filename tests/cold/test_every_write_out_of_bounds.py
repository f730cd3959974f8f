"""If an unsafe kernel were allowed, its writes out of bounds would lose only its own answer, wherever they go.

The room *classroom* tests five of twenty places.
"""

from __future__ import annotations

import itertools

import pytest

from classroom.sandbox import Sandbox
from classroom.tests.sandbox import test_opened_list
from classroom.tests.sandbox.harm import Watch
from classroom.tests.sandbox.test_opened_list import bait, sandbox, watch  # noqa: F401  (fixtures)

PLACES = list(itertools.product(test_opened_list.MANY, test_opened_list.APART))


@pytest.mark.parametrize("name", test_opened_list.WRITES)
def test_out_of_bounds_write_anywhere_loses_its_answer(watch: Watch, sandbox: Sandbox, name: str) -> None:  # noqa: F811
    test_opened_list.lose_their_answers(sandbox, watch, name, PLACES)
