"""No variant of a forged observation does harm, with a random sample of forgeries and exercises."""

from __future__ import annotations

import dataclasses

import pytest

from classroom.sandbox import Sandbox
from classroom.tests.sandbox import forging
from classroom.tests.sandbox.conftest import bait  # noqa: F401  (a fixture)
from classroom.tests.sandbox.harm import Watch
from classroom.tests.sandbox.test_judging_attacks import ALL, sandbox, watch  # noqa: F401  (fixtures)
from tests.cold import drawn

# One exercise of one forgery is tried in up to 1,800 variants, ten a second.
FORGERIES = drawn.some(
    [dataclasses.replace(forgery, exercises=(exercise_id,)) for forgery in ALL for exercise_id in forgery.exercises],
    12,
)


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: f"{forgery.name}-{forgery.exercises[0]}")
def test_no_variant_does_harm(watch: Watch, sandbox: Sandbox, forgery: forging.Forgery) -> None:  # noqa: F811
    assert watch.harms(forging.tried(sandbox, forgery)) == []
