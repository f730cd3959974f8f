"""The targets of the attacks, the same for every room of the sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from classroom.tests.sandbox.harm import Bait, laid


@pytest.fixture(scope="module")
def bait(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bait]:
    with laid(tmp_path_factory) as bait:
        yield bait
