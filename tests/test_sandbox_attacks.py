"""A submission that does harm on purpose harms nobody: not the machine, not the grader, not the next submission."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandboxing import (
    ANSWER,
    EXERCISE,
    RIGHT,
    Attack,
    attacks,
    how_it_ended,
    is_right,
    need_bubblewrap,
    settles,
    sheet_of,
)
from sandboxing import sandbox as sandboxed

from classroom.sandbox import Limits, Sandbox
from press import ROOT

ALL = attacks()
# Attacks create files of this name only.
TRACE = "by-an-attack"
_NOBODY = 65534
LOOKED_AT = ("/", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/usr", "/usr/lib", "/etc", "/root", "/home", "/run", "/srv")


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that no submission may see, and a secret in the grader's environment."""
    folder = tmp_path_factory.mktemp("class")
    (folder / "secret.txt").write_text("the submission of somebody else")
    (folder / "09_profiling.ipynb").write_text("{}")
    os.environ["GRADERS_TOKEN"] = "grader-secret"
    return folder


@pytest.fixture(scope="module")
def sandbox(secrets: Path) -> Iterator[Sandbox]:
    for made in sandboxed(Limits(seconds=1.0, answer_seconds=0.7)):
        earlier = made.observe(sheet_of("mine = 'secret-' + '123456' * 2", RIGHT), EXERCISE, ANSWER, 1)
        assert is_right(earlier)
        yield made


def test_there_are_enough_attacks() -> None:
    assert len(ALL) >= 30


@pytest.mark.parametrize("attack", ALL, ids=lambda attack: attack.name)
def test_attack_comes_to_nothing(sandbox: Sandbox, secrets: Path, attack: Attack) -> None:
    source = attack.source.replace("@FOLDER@", str(secrets)).replace("@PROJECT@", str(ROOT))
    outcome = sandbox.observe(sheet_of(source), EXERCISE, ANSWER, 1)
    ended = how_it_ended(outcome) if "a claim" not in attack.ends or outcome.data is None else "a claim"
    assert ended in attack.ends
    assert sandbox._link and settles(sandbox._link._process.pid), "something of it still runs"
    assert _traces(secrets) == []
    assert is_right(sandbox.observe(sheet_of(RIGHT), EXERCISE, ANSWER, 1)), "the next submission suffers"


def _traces(secrets: Path) -> list[Path]:
    folders = {
        *map(Path, LOOKED_AT),
        Path.home(),
        Path.cwd(),
        ROOT,
        ROOT / "fxbook",
        Path(tempfile.gettempdir()),
        secrets,
    }
    folders |= {Path(sys.prefix), Path(sys.base_prefix), Path(os.__file__).parent, *map(Path, sys.path)}
    return [path for folder in folders if os.access(folder, os.R_OK | os.X_OK) for path in folder.glob(f"*{TRACE}*")]


# Where being another user is what stops them; tests/cold tries all.
_BY_ANOTHER_USER = "kill or rights or fork or thread_bomb or grader or outside or namespaces or trace or submissions"


def test_an_ordinary_user_is_as_safe() -> None:
    """The same by a grader who is not root, whose sandbox is made in another way."""
    attacked_as_nobody(_BY_ANOTHER_USER)


def attacked_as_nobody(which: str) -> None:
    """Run the tests of attacks, those that pytest's ``-k`` chooses, as the user nobody."""
    if os.geteuid() or not all(map(shutil.which, ("unshare", "setpriv", "mount"))):
        pytest.skip("only root can become an ordinary user; an ordinary user has tested it above")
    need_bubblewrap()
    with tempfile.TemporaryDirectory(prefix="fx-") as folder:
        ran = subprocess.run(_as_nobody(Path(folder), which), capture_output=True, text=True, timeout=900)
    assert " passed" in ran.stdout and ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]


def _as_nobody(folder: Path, which: str) -> list[str]:
    """The command that runs the attacks as the user nobody, on a copy of the project and with a Python it can read."""
    book, home = folder / "book", folder / "home"
    for name in ("fxbook", "classroom", "press", "tests"):
        shutil.copytree(ROOT / name, book / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", book)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    home.mkdir()
    os.chown(home, _NOBODY, _NOBODY)
    test = f"{sys.executable} -B -m pytest -q -p no:cacheprovider -o addopts= -k 'comes_to_nothing and ({which})'"
    environment = f"env -i PATH=/usr/bin:/bin CI=true HOME={home} TMPDIR={home} PYTHONPATH={book}"
    user = f"setpriv --reuid={_NOBODY} --regid={_NOBODY} --clear-groups"
    script = "; ".join(["set -e", "mount --make-rprivate /", *_opened(folder), f"cd {book}"])
    return ["unshare", "-m", "sh", "-c", f"{script}; exec {user} {environment} {test} tests/test_sandbox_attacks.py"]


def _opened(folder: Path) -> list[str]:
    """Shell lines that let everybody reach Python, where it lies in a folder that only its owner enters.

    They hide that folder, and show in its place only Python, all in a namespace of mounts of their own.
    """
    places = dict.fromkeys((sys.base_prefix, sys.prefix))
    closed = {
        place: above
        for place in places
        for above in Path(place).parents  # The outermost is the last.
        if not above.stat().st_mode & 0o001
    }
    kept = {place: folder / f"python-{number}" for number, place in enumerate(closed)}
    return [
        *(f"mkdir {kept[place]}; mount --bind {place} {kept[place]}" for place in closed),
        *(f"mount -t tmpfs -o mode=755 tmpfs {above}" for above in dict.fromkeys(closed.values())),
        *(f"mkdir -p {place}; mount --bind {kept[place]} {place}" for place in closed),
    ]
