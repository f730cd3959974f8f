"""A malicious submission harms neither the machine nor the grader nor the next submission.

How an attack ends does not matter; :mod:`harm` defines harm.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from classroom.sandbox import Limits, Sandbox
from classroom.tests.sandbox.harm import Bait, Watch
from classroom.tests.sandbox.sandboxing import (
    EXERCISE,
    Attack,
    attacks,
    brief,
    need_bubblewrap,
    next_suffers,
    tried,
    warmed,
)
from classroom.tests.sandbox.sandboxing import sandbox as sandboxed
from press import ROOT

ALL = attacks()
_NOBODY = 65534


@pytest.fixture(scope="module")
def sandbox(bait: Bait) -> Iterator[Sandbox]:
    for sandbox in sandboxed(Limits(), EXERCISE[:2]):
        warmed(sandbox, bait)
        yield sandbox


@pytest.fixture(scope="module")
def watch(bait: Bait, sandbox: Sandbox) -> Watch:
    return Watch(bait, lambda: next_suffers(sandbox))


@pytest.mark.parametrize("attack", ALL, ids=lambda attack: attack.name)
def test_attack_does_no_harm(watch: Watch, sandbox: Sandbox, bait: Bait, attack: Attack) -> None:
    with brief(sandbox):
        came = tried(sandbox, bait, attack)
    assert watch.harms(came) == []


# The attacks that another user id stops.
_BY_ANOTHER_USER = "kill or rights or fork or thread_bomb or grader or outside or namespaces or trace or submissions"


def test_ordinary_user_is_equally_safe() -> None:
    """For a grader without root, whose sandbox is built differently: run them as the user nobody."""
    if os.geteuid() or not all(map(shutil.which, ("unshare", "setpriv", "mount"))):
        pytest.skip("only root can become an ordinary user; an ordinary user has tested it above")
    need_bubblewrap()
    with tempfile.TemporaryDirectory(prefix="fx-", dir="/tmp") as folder:
        ran = subprocess.run(_as_nobody(Path(folder)), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
    if " passed" not in ran.stdout:
        [reason, *_] = re.findall(r"^SKIPPED \[\d+\] \S+ (.*)", ran.stdout, re.MULTILINE)
        pytest.skip(f"the user nobody has no sandbox here: {reason}")


def _as_nobody(folder: Path) -> list[str]:
    """Run them on a copy of the project, with a Python that the user can read."""
    book, home = folder / "book", folder / "home"
    for name in ("fxbook", "classroom", "press", "tests"):
        shutil.copytree(ROOT / name, book / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", book)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    home.mkdir()
    os.chown(home, _NOBODY, _NOBODY)
    file = "classroom/tests/sandbox/test_observing_attacks.py"
    test = f"{sys.executable} -B -m pytest -q -rs -p no:cacheprovider -o addopts= -k 'no_harm and ({_BY_ANOTHER_USER})'"
    environment = f"env -i PATH=/usr/bin:/bin HOME={home} TMPDIR={home} PYTHONPATH={book}"
    user = f"setpriv --reuid={_NOBODY} --regid={_NOBODY} --clear-groups"
    script = "; ".join(["set -e", "mount --make-rprivate /", *_opened(folder), f"cd {book}"])
    return [
        "unshare",
        "-m",
        "sh",
        "-c",
        f"{script}; exec {user} {environment} {test} {file}",
    ]


def _opened(folder: Path) -> list[str]:
    """Shell lines that make Python readable if it is in a closed folder.

    In a separate mount namespace, they hide that folder and show only Python in its place.
    """
    places = dict.fromkeys((sys.base_prefix, sys.prefix))
    closed = {
        place: above
        for place in places
        for above in Path(place).parents  # The outermost is the last.
        if not above.stat().st_mode & 0o001
    }
    copies = {place: folder / f"python-{number}" for number, place in enumerate(closed)}
    return [
        *(f"mkdir {copies[place]}; mount --bind {place} {copies[place]}" for place in closed),
        *(f"mount -t tmpfs -o mode=755 tmpfs {above}" for above in dict.fromkeys(closed.values())),
        *(f"mkdir -p {place}; mount --bind {copies[place]} {place}" for place in closed),
    ]
