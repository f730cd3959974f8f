"""Sandboxes, attacks and their results for the tests of the sandbox."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from classroom.judge import judging
from classroom.sandbox import Limits, Sandbox, protection
from classroom.sandbox.outside import is_judgement
from classroom.tests.sandbox.harm import Bait, Came
from fxbook import tasks
from fxbook.cases import Exercise
from fxbook.learning.sheets import Sheet
from fxbook.observing.forked import Outcome, run_in_child
from fxbook.observing.prepare import prepare
from fxbook.tasks import folder_of

JSON = Any
ATTACKS = Path(__file__).parent / "attacks"
OBSERVING = ATTACKS / "observing"
# An exercise with one case whose answer may return anything.
EXERCISE, ANSWER = "09-compare-in-pairs", "paired"
# The values in an observation of an empty answer: as returned, and with the counts of two timed calls.
NOTHING = (None, [], {"tuple": [[], 0, 0]})
SEED = 1
_USUAL = Limits()
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
    """Skip the test if there is no sandbox; the reason says what to do."""
    if refusal := protection().refusal:
        pytest.skip(refusal)


def sandbox(limits: Limits, *chapters: str) -> Iterator[Sandbox]:
    """A sandbox for a fixture, prepared for some chapters; by default for all, which takes longer."""
    need_bubblewrap()
    with Sandbox(limits, chapters=chapters) as sandbox:
        yield sandbox


@contextlib.contextmanager
def brief(sandbox: Sandbox, processor_seconds: float = 1.0, seconds: float = 5.0) -> Iterator[None]:
    """Short limits for an attack that may hang.

    Args:
        sandbox: where the attack runs.
        processor_seconds: see :class:`Limits`; includes making the cases.
        seconds: see :class:`Limits`.
    """
    usual = sandbox._limits
    sandbox._limits = dataclasses.replace(usual, processor_seconds=processor_seconds, seconds=seconds)
    try:
        yield
    finally:
        sandbox._limits = usual


def warmed(sandbox: Sandbox, bait: Bait) -> None:
    """Run an earlier submission that contains a secret."""
    half = len(bait.earlier) // 2
    knows = f"known = {bait.earlier[:half]!r} + {bait.earlier[half:]!r}"
    assert is_right(sandbox.observe(sheet_of(knows, RIGHT), EXERCISE, ANSWER, SEED))


def tried(sandbox: Sandbox, bait: Bait, attack: Attack) -> Came:
    return came_of(sandbox.observe(sheet_of(bait.laid(attack.source)), EXERCISE, ANSWER, SEED), attack)


def observe_known(sandbox: Sandbox, exercise_id: str, number: int, seed: int) -> Outcome:
    """Observe a known answer, given by its index in the exercise's file."""
    text = (folder_of(exercise_id) / "answers.py").read_text(encoding="utf-8")
    # Names that no answer uses.
    collects = "all_answers = []\ndef right(answer):\n    all_answers.append(answer)\n    return answer\n"
    collects += "def wrong(*_, **__):\n    return right\ndef breaks(*_, **__):\n    return lambda answer: answer\n"
    answers = re.sub(r"^from fxbook.tasks.answering import .*$", "", text, flags=re.MULTILINE)
    cells = (collects, answers, f"the_answer = all_answers[{number}]")
    return sandbox.observe(sheet_of(*cells), exercise_id, "the_answer", seed)


def sheet_of(*cells: str, name: str = "09_profiling.ipynb") -> Sheet:
    return Sheet(Path(name), cells)


@dataclasses.dataclass(frozen=True)
class Attack:
    """An attacking submission.

    Args:
        name: the name of its cell.
        source: its one cell.
        answers: ``""`` if its answer lists what it could read or do, which should be empty; ``"no report"`` if the
            answer itself is the attack; ``"right"`` if it deserves its mark.
    """

    name: str
    source: str
    answers: str = ""


@functools.cache
def attacks(*files: Path) -> list[Attack]:
    """The attacks in the given files; by default, all attacks on the room that runs students' code.

    A cell begins with ``# %%`` and the name of the attack. Its docstring says what the attack tries and what harm it
    would do, and ``ANSWERS`` describes its answer. ``* 3`` after the name makes three attacks, with ``VARIANT`` 0, 1
    and 2.
    """
    loaded = []
    for name, variants, source in (cell for file in files or sorted(OBSERVING.glob("*.py")) for cell in cells(file)):
        tree = ast.parse(source)
        assert "\nHarm: " in _last_docstring(tree), f"{name}: say what harm it would do"
        assigned = {ast.unparse(line.targets[0]): line.value for line in tree.body if isinstance(line, ast.Assign)}
        answers = ast.literal_eval(assigned.get("ANSWERS", ast.Constant("")))
        assert answers in ("", "no report", "right"), f"{name}: {answers}"
        loaded += [Attack(name, source, answers)] if variants == 1 else []
        loaded += [
            Attack(f"{name}_{at}", f"VARIANT = {at}\n{source}", answers) for at in range(variants) if variants > 1
        ]
    return loaded


def cells(file: Path) -> Iterator[tuple[str, int, str]]:
    """The cells of a file: name, number of variants, and source, preceded by the lines above the first cell."""
    shared, *parts = re.split(r"^# %% ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for part in parts:
        title, _, source = part.partition("\n")
        name, _, variants = title.partition(" * ")
        yield name, int(variants or 1), shared + source


def _last_docstring(tree: ast.Module) -> str:
    """The docstring of the cell; the first one belongs to the file."""
    texts = [line.value for line in tree.body if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)]
    return str(texts[-1].value)


def judge_apart(exercise: Exercise, observation: JSON, seed: int, limits: Limits = _USUAL) -> JSON:
    """Judge with the sandbox's code and limits, which also works for exercises that it does not know."""
    # As in a room, do the slow preparation before the time starts.
    prepare(exercise, seed=0, rebuildable=True)
    work = functools.partial(judging.judged, exercise, observation, seed)
    outcome = run_in_child(work, limits.seconds, processor_seconds=limits.processor_seconds)
    assert outcome.data is None or is_judgement(outcome.data)
    return outcome.data or {"rule": "ends well", "unproven": []}


def came_of(outcome: Outcome, attack: Attack) -> Came:
    """Judge the result of an attack like an answer from an untrusted student."""
    exercise = tasks.find(EXERCISE)
    assert exercise
    observation = outcome.data["observation"] if outcome.data else None
    judgement = judge_apart(exercise, observation, SEED) if observation is not None else None
    return Came(
        text=f"{json.dumps(outcome.data, ensure_ascii=False)} {outcome.ended} {judgement}",
        passed=bool(judgement and not judgement["rule"]) and attack.answers != "right",
        managed=[] if attack.answers else _values(observation),
    )


def _values(observation: JSON) -> list[str]:
    """The nonempty answers in the cases of an observation; the observation may be forged."""
    cases = observation.get("cases") if isinstance(observation, dict) else None
    values = [case.get("value") for case in cases if isinstance(case, dict)] if isinstance(cases, list) else []
    return [f"it answers {str(value)[:1000]}" for value in values if value not in NOTHING]


def warm(sandbox: Sandbox, room: str = "observing") -> int:
    """The bubblewrap process around a room's warm process."""
    link = sandbox._rooms[room].link
    assert link
    return link._process.pid


def next_suffers(sandbox: Sandbox) -> str:
    """The reason why the next submission goes wrong, or ``""``."""
    outcome = sandbox.observe(sheet_of(RIGHT), EXERCISE, ANSWER, SEED)
    if not is_right(outcome):
        return f"a right answer does not pass: {outcome.ended or outcome.data}"
    looks = next(attack for attack in attacks() if attack.name == "look_for_what_was_left")
    looked = sandbox.observe(sheet_of(looks.source), EXERCISE, ANSWER, SEED).data
    values = _values(looked["observation"] if looked else None)
    return f"it finds what was left: {values}" if values else ""


def is_right(outcome: Outcome, exercise_id: str = EXERCISE, seed: int = SEED) -> bool:
    """Whether there is an observation and it is judged as right."""
    exercise = tasks.find(exercise_id)
    assert exercise
    observation = outcome.data["observation"] if outcome.data else None
    return observation is not None and not judge_apart(exercise, observation, seed)["rule"]
