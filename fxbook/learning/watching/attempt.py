"""Check the answer to one exercise in the learner's sheet, and return the result as text."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import Any

from fxbook.catalogue import About
from fxbook.learning import sheets

JSON = Any
# This limits the cells above the answer; the answer itself has the time limit of the exercise.
SECONDS = 10.0


@dataclasses.dataclass(frozen=True)
class Attempt:
    passed: bool
    text: str
    path: Path | None = None


def attempt(folder: Path, about: About) -> Attempt:
    """Check the exercise in its chapter's newest sheet; nothing in the sheet makes this raise."""
    try:
        path = sheets.newest(folder, about.chapter)
    except sheets.SheetError as problem:
        return Attempt(False, str(problem))
    try:
        sheet = sheets.read(path)
    except sheets.SheetError as problem:
        return Attempt(False, str(problem), path)
    passed, text = _checked(sheet, about)
    return Attempt(passed, text, path)


def _checked(sheet: sheets.Sheet, about: About) -> tuple[bool, str]:
    # These import torch, which the message about a damaged sheet need not wait for.
    from fxbook import tasks
    from fxbook.checking import new_seed
    from fxbook.checking.again import looking_inside
    from fxbook.checking.failed import FailedCase
    from fxbook.checking.judge import judge
    from fxbook.checking.report import Report
    from fxbook.checking.verify import GRACE_SECONDS, UNPROTECTED, not_here
    from fxbook.observing.forked import CAN_FORK, WALL_PER_PROCESSOR_SECOND, Outcome, run_in_child
    from fxbook.observing.prepare import Prepared, prepare

    exercise = tasks.find(about.id)
    if exercise is None:
        return False, not_here(about.id)
    seed, longest = new_seed(), SECONDS + exercise.usage.seconds + GRACE_SECONDS

    def work(prepared: Prepared) -> JSON:
        return sheets.observe_answer(sheet, prepared, about.answer, exercise.usage.seconds)

    def in_child(prepared: Prepared) -> Outcome:
        wall = longest * WALL_PER_PROCESSOR_SECOND
        return run_in_child(functools.partial(work, prepared), wall, processor_seconds=longest)

    def again(prepared: Prepared) -> JSON:
        told = in_child(prepared).data if CAN_FORK else None
        return told and told["observation"]

    prepared = prepare(exercise, seed)
    outcome = in_child(prepared) if CAN_FORK else None
    seen = outcome.data if outcome else work(prepared)
    if seen is None:
        why = "did not finish in time" if outcome and outcome.ended == "time" else "ended the Python process"
        return False, f"The cells of {sheet.path.name} up to `{about.answer}` {why}: fix or remove that cell."
    raised = "\n".join(_failure_text(failed) for failed in seen["failed"])
    if seen["observation"] is None:
        missing = f"No cell of {sheet.path.name} defines `{about.answer}`."
        return False, "\n".join(filter(None, [missing, raised]))
    verdict = judge(exercise, seen["observation"], seed, inside=looking_inside(exercise, seed, again))
    case = FailedCase.of(exercise, seed, verdict)
    report = Report(about, verdict, "" if CAN_FORK else UNPROTECTED, case)
    held = f'To get the case that failed: check("{about.id}", {about.answer}, seed={seed}).case' if case else ""
    return report.passed, repr(report) if report.passed else "\n".join(filter(None, [repr(report), raised, held]))


def _failure_text(failed: JSON) -> str:
    line = f", in `{failed['line']}`" if failed["line"] else ""
    return f"Cell {failed['cell']} raises {failed['type']}: {failed['message']}{line}"
