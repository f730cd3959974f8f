"""Harm of each kind is detected, so an attack without detected harm has failed."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from classroom.sandbox import Limits, Sandbox
from classroom.tests.sandbox.harm import LEFT, MARK, NEXT, READ, RUNS, TOLD, TRACE, TRACE_KEY, Bait, Came, Watch
from classroom.tests.sandbox.sandboxing import (
    ANSWER,
    EXERCISE,
    RIGHT,
    SEED,
    Attack,
    attacks,
    next_suffers,
    sheet_of,
    tried,
    warmed,
)
from classroom.tests.sandbox.sandboxing import sandbox as sandboxed
from fxbook.observing.forked import Outcome

BY_NAME = {attack.name: attack for attack in attacks()}
NOTHING = Came("")


@pytest.fixture(scope="module")
def sandbox(bait: Bait) -> Iterator[Sandbox]:
    for sandbox in sandboxed(Limits(), EXERCISE[:2]):
        warmed(sandbox, bait)
        yield sandbox


@pytest.fixture(scope="module")
def unconfined(bait: Bait) -> Iterator[Sandbox]:
    # Enough time to search the many files of a machine.
    with Sandbox(Limits(processor_seconds=600.0, seconds=600.0), trusted=True) as sandbox:
        yield sandbox


@pytest.fixture
def watch(bait: Bait) -> Watch:
    """Detects harm done by the test itself; the next submission is always fine."""
    return Watch(bait, str)


@pytest.fixture
def hasty(bait: Bait) -> Watch:
    """Like ``watch``, without patience for processes that hang."""
    return Watch(bait, str, patience=0.0)


def kinds(harms: list[str]) -> set[str]:
    return {harm.partition(":")[0] for harm in harms}


# ---- the attacks work ------------------------------------------------------------------------------------------------


# These may run unconfined: they only look and connect, and change nothing.
_LOOK = ("gain_rights", "read_other_submissions", "read_the_checks", "read_the_grader", "start_a_program")
_KNOCK = ("local_sockets", "network")


@pytest.mark.parametrize("name", [*_LOOK, *_KNOCK])
def test_unconfined_attacks_do_harm(watch: Watch, unconfined: Sandbox, bait: Bait, name: str) -> None:
    if name == "gain_rights" and os.geteuid():
        pytest.skip("only root has rights that an answer may gain")
    harms = kinds(watch.harms(tried(unconfined, bait, BY_NAME[name])))
    assert harms >= ({READ, TOLD} if name in _KNOCK else {READ})


def test_forged_data_arrives(sandbox: Sandbox, bait: Bait) -> None:
    outcome = sandbox.observe(sheet_of(BY_NAME["forge_with_the_mark"].source), EXERCISE, ANSWER, SEED)
    assert outcome.data == {"failed": [], "observation": {"forged": True}}


# ---- harm is detected ------------------------------------------------------------------------------------------------


def test_unearned_mark_is_detected(watch: Watch, sandbox: Sandbox, bait: Bait) -> None:
    came = tried(sandbox, bait, Attack("answers by an attack", RIGHT, "no report"))
    assert kinds(watch.harms(came)) == {MARK}
    assert watch.harms(tried(sandbox, bait, Attack("answers, and attacks besides", RIGHT, "right"))) == []


@pytest.mark.parametrize("secret", ["in_file", "in_environment", "earlier"])
@pytest.mark.parametrize(
    "cell",
    [
        "def paired(*_): return ['{}']",
        "def paired(*_): raise ValueError('{}')",
        "def paired(*_): print('{}')",
        "raise ValueError('{}')",
    ],
)
def test_leaked_secret_is_detected(watch: Watch, sandbox: Sandbox, bait: Bait, secret: str, cell: str) -> None:
    tells = Attack("tells", cell.format(getattr(bait, secret)), "no report")
    assert kinds(watch.harms(tried(sandbox, bait, tells))) == {READ}


def test_left_and_changed_files_are_detected(watch: Watch, bait: Bait) -> None:
    for place in (Path(tempfile.gettempdir()), bait.folder, Path("/tmp"), Path.home()):
        path = place / f"{TRACE}-{os.getpid()}"
        path.touch()
        assert kinds(watch.harms(NOTHING)) == {LEFT}, place
        path.unlink()
    with tempfile.TemporaryDirectory():
        assert kinds(watch.harms(NOTHING)) == {LEFT}
    (bait.folder / "secret.txt").write_text("overwritten")
    assert kinds(watch.harms(NOTHING)) == {LEFT}
    (bait.folder / "secret.txt").write_text(bait.in_file)
    assert watch.harms(NOTHING) == []


def test_kernel_objects_are_detected(watch: Watch) -> None:
    with socket.socket(socket.AF_UNIX) as endpoint:
        endpoint.bind(f"\0{TRACE}-{os.getpid()}")
        assert kinds(watch.harms(NOTHING)) == {LEFT}
    libc = ctypes.CDLL(None)
    segment = libc.shmget(TRACE_KEY, 4096, 0o1600)
    if segment == -1 or not Path("/proc/sysvipc/shm").exists():
        pytest.skip("this machine has no shared memory without a file")
    assert kinds(watch.harms(NOTHING)) == {LEFT}
    assert libc.shmctl(segment, 0, None) == 0
    assert watch.harms(NOTHING) == []


def test_running_child_is_detected(watch: Watch, hasty: Watch) -> None:
    with subprocess.Popen(["sleep", "3600"]) as process:
        assert kinds(hasty.harms(NOTHING)) == {RUNS}
        process.kill()
    assert watch.harms(NOTHING) == []


class Spoilt:
    """A sandbox in which an attack has left code that runs before and after the next submission."""

    def __init__(self, sandbox: Sandbox, before: str, after: str) -> None:
        self._sandbox, self._before, self._after = sandbox, before, after

    def observe(self, sheet: Any, *arguments: Any) -> Outcome:
        code = "\n".join((self._before, *sheet.cells, self._after))
        return self._sandbox.observe(sheet_of(code), *arguments)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("", f"{ANSWER} = lambda *_: []", "a right answer does not pass"),
        ("import os\nos._exit(0)", "", "a right answer does not pass"),
        ("import os, tempfile\nos.mkdir(tempfile.gettempdir() + '/note')", "", "finds what was left"),
    ],
    ids=["another answer", "an end", "a note"],
)
def test_damage_to_the_next_submission_is_detected(
    bait: Bait, sandbox: Sandbox, before: str, after: str, says: str
) -> None:
    spoilt: Any = Spoilt(sandbox, before, after)
    (line,) = Watch(bait, lambda: next_suffers(spoilt)).harms(NOTHING)
    assert line.startswith(NEXT) and says in line
