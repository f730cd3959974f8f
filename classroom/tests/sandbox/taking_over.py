"""Rooms of the sandbox that an attack has taken over: its own Python runs in place of the judge or the reader.

This simulates a bug in torch's kernels or in a file reader that lets an attacker run code. The process is confined as
usual, with that room's files, memory and pipes. Only for tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from classroom.sandbox import Limits, Sandbox, contents
from classroom.sandbox.contents import JUDGING, READING
from classroom.tests.sandbox.harm import Bait, Came
from classroom.tests.sandbox.sandboxing import ATTACKS, SEED, Attack, need_bubblewrap
from classroom.tests.sandbox.sandboxing import attacks as attacks_in

JSON = Any
EXERCISE = "09-compare-in-pairs"
TAKEN_OVER = ATTACKS / "taken_over.py"
MARK = "# runs an attack"
# A teacher's cases for another exercise, which must not enter the room.
_HIDDEN = """
from fxbook.tasks import find
SECRET = "@SECRET@"
CASES = {"00-readers": (SECRET,), "@EXERCISE@": find("@EXERCISE@").usage.cases}
"""
# Appended to a room: run an attack if one is sent.
_RUNS = """
_true_work = work

def work(begun, told, files=()):
    source = _attack_in(told, files)
    if not source:
        return _true_work(begun, told, files)
    names = {"__name__": "__main__", "ROOM": __name__.rpartition(".")[2], "FILES": files}
    try:
        exec(compile(source, "<attack>", "exec"), names)
        found = names["paired"](*[lambda *_: 0.5] * 2, 3, lambda: 0.5)
    except Exception as error:
        found = f"it raised {type(error).__name__}: {error}"
    return _told(found)
"""
_IN: Mapping[str, str] = {
    JUDGING: """
def _attack_in(told, files):
    return told.get("attack", "") if isinstance(told, dict) else ""

def _told(found):
    texts = dict.fromkeys(("message", "node", "read", "case", "line", "printed"), "")
    return {**texts, "rule": "taken over", "message": repr(found), "graph": None, "unproven": []}
""",
    READING: f"""
import os

def _attack_in(told, files):
    data = base64.b64decode(told["sheet"]) if "sheet" in told else os.pread(files[0], 1 << 20, 0)
    source = data.decode("utf-8", "replace")
    return source if source.startswith("{MARK}") else ""

def _told(found):
    return {{"problem": repr(found), "reason": repr(found)}}
""",
}


@contextlib.contextmanager
def taken_over(limits: Limits) -> Iterator[Sandbox]:
    """A sandbox whose judging and reading rooms run the attacks of :func:`tried`, and otherwise work as usual."""
    need_bubblewrap()
    files = contents.files

    def changed(room: str) -> Mapping[str, str | bytes]:
        room_files = dict(files(room))
        if room in _IN:
            room_files[f"inside/{room}.py"] += _IN[room] + _RUNS
        return room_files

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(contents, "files", changed)
        with Sandbox(limits, chapters=("09",)) as sandbox:
            sandbox.start()
            yield sandbox


def attacks() -> list[Attack]:
    return attacks_in(TAKEN_OVER)


def tried(sandbox: Sandbox, bait: Bait, attack: Attack, room: str) -> Came:
    """Run an attack in a room; the judge's verdict on its own answer is not harm."""
    source = f"{MARK}\n{bait.laid(attack.source)}"
    changed = []
    if room == READING and attack.name.endswith("_zip"):
        # Send the descriptor of one of the grader's files.
        with tempfile.NamedTemporaryFile(buffering=0) as zipped:
            zipped.write(source.encode())
            with Path(zipped.name).open("rb") as file:
                before = _rights(file.fileno())
                outcome = sandbox.list_zip(file.fileno(), 10, bounded=False)
                changed = [] if _rights(file.fileno()) == before else ["the file is another"]
    elif room == JUDGING:
        hidden = _HIDDEN.replace("@SECRET@", bait.earlier).replace("@EXERCISE@", EXERCISE)
        outcome = sandbox.judge(EXERCISE, {"attack": source}, SEED, hidden)
    else:
        outcome = sandbox.read_sheet("x.py", source.encode(), {})
    data = outcome.data
    answer = (
        ""
        if not isinstance(data, dict)
        else data["message"]
        if data.get("rule") == "taken over"
        else data.get("problem")
    )
    clean = (
        not isinstance(answer, str)
        or answer in ("", "[]", "None")
        or answer[1:].startswith("it raised")
        or answer.startswith("not a")
    )
    text = f"{json.dumps(data, ensure_ascii=False)} {outcome.ended}"
    text.encode("utf-8", "replace" if room == READING else "strict")
    return Came(
        text, managed=[*changed, *([] if clean or attack.answers else [f"in {room} it answers {answer[:1000]}"])]
    )


def warmed(sandbox: Sandbox, bait: Bait) -> None:
    """Let each room process a secret, as part of the work before an attack."""
    assert sandbox.judge(EXERCISE, {"printed": bait.earlier}, SEED).data
    assert sandbox.read_sheet("x.py", f"known = {bait.earlier!r}".encode(), {}).data["cells"]


def suffering(sandbox: Sandbox, truth: JSON) -> str:
    """The reason why the rooms no longer work correctly, or ``""``."""
    outcome = sandbox.judge(EXERCISE, truth, SEED)
    if outcome.data is None or outcome.data["rule"]:
        return f"a right answer does not pass: {outcome}"
    reading = sandbox.read_sheet("x.py", b"# %%\nx = 1\n", {})
    return "" if reading.data and reading.data["cells"] == ["x = 1"] else f"a sheet is not read: {reading}"


def _rights(file: int) -> Sequence[float]:
    status = os.fstat(file)
    return status.st_mode, status.st_uid, status.st_size, status.st_mtime
