"""Every variant of every forged observation fails to do harm."""

from __future__ import annotations

import pytest

from classroom.sandbox import Sandbox
from classroom.tests.sandbox import forging
from classroom.tests.sandbox.harm import Watch
from classroom.tests.sandbox.test_judging_attacks import ALL, bait, sandbox, watch  # noqa: F401  (fixtures)
from tests.cold import drawn


@pytest.mark.parametrize("forgery", drawn.some(ALL, 12), ids=lambda forgery: forgery.name)
def test_no_variant_does_harm(watch: Watch, sandbox: Sandbox, forgery: forging.Forgery) -> None:  # noqa: F811
    assert watch.harms(forging.tried(sandbox, forgery)) == []
