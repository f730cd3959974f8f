"""No variant of any forged observation does harm."""

from __future__ import annotations

import dataclasses

import pytest

from classroom.sandbox import Sandbox
from classroom.tests.sandbox import forging
from classroom.tests.sandbox.conftest import bait  # noqa: F401  (a fixture)
from classroom.tests.sandbox.harm import Watch
from classroom.tests.sandbox.test_judging_attacks import ALL, sandbox, watch  # noqa: F401  (fixtures)
from tests.cold import drawn

FORGERIES = [
    dataclasses.replace(forgery, exercises=(exercise_id,))
    for forgery in drawn.some(ALL, 12)
    for exercise_id in forgery.exercises
]


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: f"{forgery.name}-{forgery.exercises[0]}")
def test_no_variant_does_harm(watch: Watch, sandbox: Sandbox, forgery: forging.Forgery) -> None:  # noqa: F811
    assert watch.harms(forging.tried(sandbox, forgery)) == []
