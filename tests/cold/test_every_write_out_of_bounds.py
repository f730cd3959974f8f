"""Wherever a kernel that is on the list by force writes, the answer is lost and nothing else.

The room *classroom* tries five places of twenty.
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
def test_a_graph_that_writes_anywhere_loses_its_answer(watch: Watch, sandbox: Sandbox, name: str) -> None:  # noqa: F811
    test_opened_list.lose_their_answers(sandbox, watch, name, PLACES)
