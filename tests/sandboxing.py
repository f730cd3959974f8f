"""What the tests of the sandbox share: a sandbox where there can be one, and how an attack is told and looked at."""

from __future__ import annotations

import ast
import dataclasses
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from answering import FOLDER

from classroom.sandbox import Limits, Sandbox, protection
from fxbook import checks
from fxbook.checking.apart import Outcome
from fxbook.checking.judge import judge
from fxbook.sheets import Sheet
from press import ROOT

ATTACKS = ROOT / "tests" / "attacks"
# An exercise with one case, whose answer may return anything.
EXERCISE, ANSWER = "09-compare-in-pairs", "paired"
RIGHT = """
def paired(first, second, rounds, clock):
    def seconds(call):
        started = clock()
        call()
        return clock() - started

    first(), second()
    ratios = []
    for turn in range(rounds):
        calls = (first, second) if turn % 2 else (second, first)
        took = {call: seconds(call) for call in calls}
        ratios.append(took[first] / took[second])
    return ratios
"""


def need_bubblewrap() -> None:
    """Skip where submissions cannot be run in a sandbox; where the tests are the last word, fail."""
    if refusal := protection().refusal:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(refusal)


def sandbox(limits: Limits) -> Iterator[Sandbox]:
    """A sandbox for a fixture."""
    need_bubblewrap()
    with Sandbox(limits) as made:
        yield made


def observe_told(sandbox: Sandbox, exercise_id: str, number: int, seed: int) -> Outcome:
    """What is observed of one of the answers in ``tests/answers``, by its place among all of its file."""
    text = (FOLDER / f"{exercise_id}.py").read_text(encoding="utf-8")
    # Names that no answer has.
    collects = "all_answers = []\ndef right(answer):\n    all_answers.append(answer)\n    return answer\n"
    collects += "def wrong(*_, **__):\n    return right\n"
    answers = re.sub(r"^from answering import .*$", "", text, flags=re.MULTILINE)
    cells = (collects, answers, f"the_answer = all_answers[{number}]")
    return sandbox.observe(sheet_of(*cells), exercise_id, "the_answer", seed)


def sheet_of(*cells: str, name: str = "09_profiling.ipynb") -> Sheet:
    return Sheet(Path(name), cells)


@dataclasses.dataclass(frozen=True)
class Attack:
    """A submission that tries something, and how it may end."""

    name: str
    source: str
    ends: tuple[str, ...]


def attacks() -> list[Attack]:
    """Those in ``tests/attacks``: the docstring says what each tries and, in its last line, how it ends."""
    found = []
    for path in sorted(ATTACKS.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        said = (ast.get_docstring(ast.parse(source)) or "").splitlines()
        assert said[-1].startswith("Ends: "), f"{path.name}: say how it must end"
        found.append(Attack(path.stem, source, tuple(said[-1].removeprefix("Ends: ").split(" or "))))
    return found


def how_it_ended(outcome: Outcome) -> str:
    """As attacks say it: why there is no data, the error that was raised, or what the answer says it could do."""
    if outcome.data is None:
        return outcome.ended
    seen = outcome.data["observation"]
    if seen is None:
        return "missing"
    if seen == {"forged": True}:
        return "forged"
    if seen["error"]:
        return seen["error"]["type"]
    values = [case["value"] for case in seen["cases"]]
    return "nothing worked" if values == [[]] else f"worked: {values}"


def is_right(outcome: Outcome, exercise_id: str = EXERCISE, seed: int = 1) -> bool:
    """Whether an observation was made, and is judged to be of a right answer."""
    exercise = checks.find(exercise_id)
    assert exercise
    return (
        bool(outcome.data and outcome.data["observation"]) and judge(exercise, outcome.data["observation"], seed).passed
    )


def processes_below(process: int) -> set[int]:
    """A process and all that it started, directly or not."""
    found = {process}
    for thread in Path(f"/proc/{process}/task").iterdir():
        for child in (thread / "children").read_text().split():
            found |= processes_below(int(child))
    return found


def warm(sandbox: Sandbox, room: str = "observing") -> int:
    """The process of bubblewrap around the warm process of a room."""
    link = sandbox._rooms[room].link
    assert link
    return link._process.pid


# bubblewrap twice, outside and inside, and the warm process.
IDLE = 3


def settles(process: int, seconds: float = 5.0) -> bool:
    """Whether nothing runs below the warm process of a sandbox, or will not within a moment."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if len(processes_below(process)) == IDLE:
                return True
        except OSError:  # One ended while it was looked at.
            continue
        time.sleep(0.02)
    return False
