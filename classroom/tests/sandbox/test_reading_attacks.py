"""A file that is handed in to harm who reads it harms neither the grader nor the next file.

How an attack ends does not matter; what harm is, :mod:`harm` says.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from classroom.sandbox import Limits, Sandbox
from classroom.tests.sandbox import handed_in
from classroom.tests.sandbox.harm import Bait, Watch, laid
from classroom.tests.sandbox.sandboxing import sandbox as sandboxed

ALL = handed_in.attacks()
# Of each attack; tests/cold tries all.
_FEW = 3


@pytest.fixture(scope="module")
def bait(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bait]:
    with laid(tmp_path_factory) as bait:
        yield bait


@pytest.fixture(scope="module")
def sandbox(bait: Bait) -> Iterator[Sandbox]:
    for sandbox in sandboxed(Limits.here()):
        assert not next_suffers(sandbox)
        yield sandbox


@pytest.fixture(scope="module")
def watch(bait: Bait, sandbox: Sandbox) -> Watch:
    return Watch(bait, lambda: next_suffers(sandbox))


def next_suffers(sandbox: Sandbox) -> str:
    """Why a sheet is not read as it should be after another: ``""`` where all is well."""
    outcome = sandbox.read_sheet("x.py", b"# %%\nx = 1\n\n# %%\ny = 2\n", {})
    return "" if outcome.data and outcome.data["cells"] == ["x = 1", "y = 2"] else f"a sheet is not read: {outcome}"


@pytest.mark.parametrize("attack", ALL, ids=lambda attack: attack.name)
def test_a_file_does_no_harm(watch: Watch, sandbox: Sandbox, attack: handed_in.HandedIn) -> None:
    assert watch.harms(handed_in.tried(sandbox, attack, _FEW)) == []
