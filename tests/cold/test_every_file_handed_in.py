"""No malicious file that is handed in does harm."""

from __future__ import annotations

import pytest

from classroom.sandbox import Sandbox
from classroom.tests.sandbox.conftest import bait  # noqa: F401  (a fixture)
from classroom.tests.sandbox.harm import Watch
from classroom.tests.sandbox.test_reading_attacks import ALL, sandbox, tried, watch  # noqa: F401  (fixtures)
from tests.cold import drawn


@pytest.mark.parametrize("attack", drawn.some(list(ALL), 8))
def test_no_file_does_harm(watch: Watch, sandbox: Sandbox, attack: str) -> None:  # noqa: F811
    assert watch.harms(tried(sandbox, ALL[attack])) == []
