"""An answer that looks up or guesses the expected result gets no mark."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from classroom.sandbox import Limits, Sandbox
from classroom.tests.sandbox.sandboxing import ATTACKS, cells, is_right, sheet_of
from classroom.tests.sandbox.sandboxing import sandbox as sandboxed
from fxbook import tasks
from fxbook.cases import Exercise

CHEATS = {name: source for name, _, source in cells(ATTACKS / "cheats.py")}
PROBE = CHEATS.pop("look_for_seeds_and_names")
SEEDS = (1, 2, 3)
DATA = [exercise for exercise in tasks.all_exercises() if exercise.usage.use == "compute"]
# The first of each chapter; tests/cold tries all.
FEW = list({exercise.id[:2]: exercise for exercise in reversed(DATA)}.values())


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    yield from sandboxed(Limits(processor_seconds=600.0, seconds=600.0))


# ---- submissions that once got points --------------------------------------------------------------------------------


def cheats() -> list[tuple[str, str]]:
    """Pair each submission with the exercises that its docstring names."""
    pairs = []
    for name, source in CHEATS.items():
        exercises = re.findall(r"^Of: (.+)$", source, re.MULTILINE)
        assert len(exercises) == 1, f"{name}: name the exercises in a line `Of: …`"
        pairs += [(name, identity) for identity in exercises[0].split()]
    return pairs


@pytest.mark.parametrize(("name", "identity"), cheats())
def test_cheat_gets_no_mark(sandbox: Sandbox, name: str, identity: str) -> None:
    source = CHEATS[name].replace("@EXERCISE@", identity)
    for seed in SEEDS:
        outcome = sandbox.observe(sheet_of(source), identity, "answer", seed)
        assert outcome.data and outcome.data["observation"], outcome
        assert not is_right(outcome, identity, seed)


# ---- searching for secrets -------------------------------------------------------------------------------------------

SEED = 1_903_774_651
# The answer to these is a class, created before it is used.
CLASSES = ("07-inject-constants", "07-inputs-by-name", "08-free-early")


def probe(exercise: Exercise, *more: str) -> str:
    """The submission that searches for the seed and the names of cases."""
    numbers = [str(SEED + 1000 * place) for place in range(len(exercise.usage.cases))]
    return PROBE.replace("@WANTED@", "|".join([*numbers, *(case.name for case in exercise.usage.cases), *more])[::-1])


def printed_by(sandbox: Sandbox, exercise: Exercise, source: str) -> str:
    name = "Answer" if exercise.id in CLASSES else "answer"
    outcome = sandbox.observe(sheet_of(source), exercise.id, name, SEED)
    assert outcome.data and outcome.data["observation"], outcome
    observation = outcome.data["observation"]
    assert not observation["problem"] and not observation["error"], observation
    errors = {case["error"]["message"] for case in observation["cases"] if case["error"]}
    assert exercise.id in CLASSES or not errors
    findings, _, last = str(observation["printed"]).strip().rpartition("looked")
    assert not last and observation["printed"], "the submission did not look"
    return findings.strip()


@pytest.mark.parametrize("exercise", FEW, ids=lambda exercise: exercise.id)
def test_seed_and_case_names_are_not_found(sandbox: Sandbox, exercise: Exercise) -> None:
    assert printed_by(sandbox, exercise, probe(exercise)) == ""


def test_probe_finds_planted_secrets(sandbox: Sandbox) -> None:
    exercise = DATA[0]
    planted = f"""
class Told(torch.nn.Module):
    verdict = "same"


held = [{{"seed": {SEED}}}, "a " + "title", Told()]
"""
    findings = printed_by(sandbox, exercise, f"{probe(exercise, 'a title')}\n{planted}")
    assert f"the number {str(SEED)[::-1]} in a dict" in findings
    assert "the text 'eltit a' in a list" in findings and "verdict of a Told" in findings
