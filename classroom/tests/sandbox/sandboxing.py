"""What the tests of the sandbox share: a sandbox where there can be one, attacks, and what comes of them."""

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
# An exercise with one case, whose answer may return anything.
EXERCISE, ANSWER = "09-compare-in-pairs", "paired"
# What an observation holds where the answer is nothing: as it is, and beside how often it timed each of two calls.
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
    """Skip where submissions cannot be run in a sandbox; the reason says what to do."""
    if refusal := protection().refusal:
        pytest.skip(refusal)


def sandbox(limits: Limits, *chapters: str) -> Iterator[Sandbox]:
    """A sandbox for a fixture, ready for the exercises of some chapters; without any for all, which takes longer."""
    need_bubblewrap()
    with Sandbox(limits, chapters=chapters) as sandbox:
        yield sandbox


@contextlib.contextmanager
def brief(sandbox: Sandbox, processor_seconds: float = 1.0, seconds: float = 5.0) -> Iterator[None]:
    """Few seconds for an attack that may never end; the usual ones for whoever comes before and after it.

    Args:
        sandbox: where the attack runs.
        processor_seconds: see :class:`Limits`; to make the cases of an exercise counts, too.
        seconds: the same.
    """
    usual = sandbox._limits
    sandbox._limits = dataclasses.replace(usual, processor_seconds=processor_seconds, seconds=seconds)
    try:
        yield
    finally:
        sandbox._limits = usual


def warmed(sandbox: Sandbox, bait: Bait) -> None:
    """Have the sandbox run a submission that holds a secret, as one of those before an attack does."""
    half = len(bait.earlier) // 2
    knows = f"known = {bait.earlier[:half]!r} + {bait.earlier[half:]!r}"
    assert is_right(sandbox.observe(sheet_of(knows, RIGHT), EXERCISE, ANSWER, SEED))


def tried(sandbox: Sandbox, bait: Bait, attack: Attack) -> Came:
    """Let an attack loose in a sandbox."""
    return came_of(sandbox.observe(sheet_of(bait.laid(attack.source)), EXERCISE, ANSWER, SEED), attack)


def observe_known(sandbox: Sandbox, exercise_id: str, number: int, seed: int) -> Outcome:
    """What is observed of one of the answers of an exercise, by its place among all in its file."""
    text = (folder_of(exercise_id) / "answers.py").read_text(encoding="utf-8")
    # Names that no answer has.
    collects = "all_answers = []\ndef right(answer):\n    all_answers.append(answer)\n    return answer\n"
    collects += "def wrong(*_, **__):\n    return right\ndef breaks(*_, **__):\n    return lambda answer: answer\n"
    answers = re.sub(r"^from fxbook.tasks.answering import .*$", "", text, flags=re.MULTILINE)
    cells = (collects, answers, f"the_answer = all_answers[{number}]")
    return sandbox.observe(sheet_of(*cells), exercise_id, "the_answer", seed)


def sheet_of(*cells: str, name: str = "09_profiling.ipynb") -> Sheet:
    return Sheet(Path(name), cells)


@dataclasses.dataclass(frozen=True)
class Attack:
    """A submission that tries something.

    Args:
        name: of its cell.
        source: its one cell.
        answers: what its answer is: ``""`` for a list of what it could read or do, which is to be empty;
            ``"no report"`` where the answer itself is the attack; ``"right"`` where it deserves its mark.
    """

    name: str
    source: str
    answers: str = ""


@functools.cache
def attacks(*files: Path) -> list[Attack]:
    """Those in the cells of some files, by default of all on the room where students' code runs.

    A cell begins with ``# %%`` and the name of the attack. Its docstring says what it tries and the harm it would do,
    ``ANSWERS`` what it answers. ``* 3`` behind the name makes three attacks of it, in which ``VARIANT`` is 0, 1 and 2.
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
    """The cells of a file, each with its name, the number of its variants, and behind it the lines above the first."""
    shared, *parts = re.split(r"^# %% ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for part in parts:
        title, _, source = part.partition("\n")
        name, _, variants = title.partition(" * ")
        yield name, int(variants or 1), shared + source


def _last_docstring(tree: ast.Module) -> str:
    """That of the cell; the first is that of the file."""
    texts = [line.value for line in tree.body if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)]
    return str(texts[-1].value)


def judge_apart(exercise: Exercise, observation: JSON, seed: int, limits: Limits = _USUAL) -> JSON:
    """What the sandbox says, by the same code with the same limits, also of exercises that it does not know."""
    # As in a room: what takes long to make once is there before the time begins.
    prepare(exercise, seed=0, rebuildable=True)
    work = functools.partial(judging.judged, exercise, observation, seed)
    outcome = run_in_child(work, limits.seconds, processor_seconds=limits.processor_seconds)
    assert outcome.data is None or is_judgement(outcome.data)
    return outcome.data or {"rule": "ends well", "unproven": []}


def came_of(outcome: Outcome, attack: Attack) -> Came:
    """What came of an attack, judged as an answer is judged whose author is not to be trusted."""
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
    """What was answered in the cases of an observation, which anybody may have written, besides nothing at all."""
    cases = observation.get("cases") if isinstance(observation, dict) else None
    values = [case.get("value") for case in cases if isinstance(case, dict)] if isinstance(cases, list) else []
    return [f"it answers {str(value)[:1000]}" for value in values if value not in NOTHING]


def warm(sandbox: Sandbox, room: str = "observing") -> int:
    """The process of bubblewrap around the warm process of a room."""
    link = sandbox._rooms[room].link
    assert link
    return link._process.pid


def next_suffers(sandbox: Sandbox) -> str:
    """Why a submission does not come out as it should after another: ``""`` where all is well."""
    outcome = sandbox.observe(sheet_of(RIGHT), EXERCISE, ANSWER, SEED)
    if not is_right(outcome):
        return f"a right answer does not pass: {outcome.ended or outcome.data}"
    looks = next(attack for attack in attacks() if attack.name == "look_for_what_was_left")
    looked = sandbox.observe(sheet_of(looks.source), EXERCISE, ANSWER, SEED).data
    values = _values(looked["observation"] if looked else None)
    return f"it finds what was left: {values}" if values else ""


def is_right(outcome: Outcome, exercise_id: str = EXERCISE, seed: int = SEED) -> bool:
    """Whether an observation was made, and is judged to be of a right answer."""
    exercise = tasks.find(exercise_id)
    assert exercise
    observation = outcome.data["observation"] if outcome.data else None
    return observation is not None and not judge_apart(exercise, observation, seed)["rule"]
