"""A malicious file harms neither the grader nor the next file.

How an attack ends does not matter; :mod:`harm` defines harm.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator

import pytest

from classroom import sandbox as rooms
from classroom.collect import files
from classroom.collect.files import RefusedError
from classroom.sandbox import Limits, Sandbox
from classroom.tests.sandbox.forging import functions, spread
from classroom.tests.sandbox.harm import Bait, Came, Watch
from classroom.tests.sandbox.sandboxing import ATTACKS, brief
from classroom.tests.sandbox.sandboxing import sandbox as sandboxed

Files = Callable[[], Iterator[tuple[str, bytes]]]
ALL: dict[str, Files] = dict(functions(ATTACKS / "reading.py"))
# Files of each attack; tests/cold tries all.
_FEW = 5
_ANSWERS = {"put_in_order": "def put_in_order(traced):\n    pass"}
# The most text that the grader may have to hold for a sheet or for a zip's list of files.
_MOST = 64 << 20


@pytest.fixture(scope="module")
def sandbox(bait: Bait) -> Iterator[Sandbox]:
    for sandbox in sandboxed(Limits()):
        assert not next_suffers(sandbox)
        yield sandbox


@pytest.fixture(scope="module")
def watch(bait: Bait, sandbox: Sandbox) -> Watch:
    return Watch(bait, lambda: next_suffers(sandbox))


def next_suffers(sandbox: Sandbox) -> str:
    """The reason why a sheet is no longer read correctly, or ``""``."""
    outcome = sandbox.read_sheet("x.py", b"# %%\nx = 1\n\n# %%\ny = 2\n", {})
    return "" if outcome.data and outcome.data["cells"] == ["x = 1", "y = 2"] else f"a sheet is not read: {outcome}"


def tried(room: Sandbox, attack: Files, most: int | None = None) -> Came:
    """Run an attack. It succeeds if a path leads out of its zip or a file is larger than allowed.

    Args:
        room: a sandbox that reads.
        attack: the files to hand in.
        most: how many of them, evenly spread; ``None`` for all.
    """
    chosen = set(spread(sum(1 for _ in attack()), most))
    texts, managed = [], []
    with pytest.MonkeyPatch.context() as patched, brief(room):
        patched.setattr(rooms, "for_reading", lambda: room)
        for place, (name, data) in enumerate(attack()):
            if place not in chosen:
                continue
            if name.endswith(".zip"):
                text, done = _unzipped(data)
                managed += done
            else:
                text = _read(room, name, data)
            assert len(text) <= _MOST
            texts.append(text)
    return Came("\n".join(texts), managed=managed)


def _read(room: Sandbox, name: str, data: bytes) -> str:
    outcome = room.read_sheet(name, data, _ANSWERS)
    text = json.dumps(outcome.data, ensure_ascii=False)
    text.encode()
    return f"{name}: {text} {outcome.ended}"


def _unzipped(data: bytes) -> tuple[str, list[str]]:
    managed = []
    try:
        entries = files.in_zip(io.BytesIO(data), ("student", "homework.zip"), files.FILES)
    except RefusedError as refused:
        return str(refused), []
    texts = []
    for entry in entries:
        outside = ".." in entry.parts or any("/" in part or part in ("", ".") for part in entry.parts)
        managed += [f"the path {entry.parts}"] if outside and not entry.refused else []
        try:
            content = entry.read()
            managed += [f"{len(content)} bytes"] if len(content) > files.FILE else []
            texts.append(f"{entry.parts}: {content[:100]!r}")
        except RefusedError as refused:
            texts.append(f"{entry.parts}: {refused}")
    return "\n".join(texts).encode("utf-8", "replace").decode(), managed


@pytest.mark.parametrize("attack", ALL)
def test_file_does_no_harm(watch: Watch, sandbox: Sandbox, attack: str) -> None:
    assert "\n    Harm: " in (ALL[attack].__doc__ or ""), "say what harm it would do"
    assert watch.harms(tried(sandbox, ALL[attack], _FEW)) == []
