"""What a worker does for one student: read each sheet, observe each answer in the sandbox, judge it outside of it.

A worker is a process, on this machine or another. It imports torch once and keeps one sandbox, which does so once too.
"""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import functools
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from classroom import hidden
from classroom.jobs import Job
from classroom.judging import judge_apart
from classroom.names import shown
from classroom.reading import Read, read_sheet
from classroom.records import Mark
from classroom.sandbox import Sandbox, SandboxError
from fxbook import checks, sheets
from fxbook.checking.apart import Outcome
from fxbook.checks import Exercise
from fxbook.exercises import About

JSON = Any
# A worker that does not come back after so many seconds, and so many more for each answer, is taken for dead.
_DEADLINE, _DEADLINE_PER_ANSWER = 120.0, 120.0
_MOST_TOLD, _MOST_GRAPH = 600, 200_000
_ENDED = {
    "time": "was still running when the time was over: it may loop for ever",
    "exit": "ended the Python process (os._exit or the like)",
    "crash": "crashed the Python process: recursion without an end, too much memory, or memory that was overwritten",
    "silent": "closed or flooded the channel through which its result is read",
}


def grade(job: Job) -> list[JSON]:
    """The marks of one student, as :meth:`classroom.records.Mark.to_json` describes each, in the assignment's order.

    Raises:
        SandboxError: there is no sandbox on this machine.
        classroom.hidden.HiddenError: the hidden variants cannot be used.
    """
    # A worker of Dask may have several threads; there is one sandbox.
    with _one_at_a_time, _deadline(len(job.assignment.exercises)):
        read = {chapter: read_sheet(job.submission, job.assignment, chapter) for chapter in job.assignment.chapters}
        return [_mark(job, about, read[about.chapter]).to_json() for about in job.assignment.exercises]


# ---- the worker's own ------------------------------------------------------------------------------------------------

_one_at_a_time = threading.Lock()
_sandboxes: dict[bool, Sandbox] = {}


def _sandbox(trusted: bool) -> Sandbox:
    if trusted not in _sandboxes:
        _sandboxes[trusted] = Sandbox(trusted=trusted)
    return _sandboxes[trusted]


def close() -> None:
    """End the worker's sandbox; the next answer starts another."""
    while _sandboxes:
        _sandboxes.popitem()[1].close()


@contextlib.contextmanager
def _deadline(answers: int) -> Iterator[None]:
    """End this process, where it is a worker, if the body never ends: whoever sent the job sees it die."""
    if multiprocessing.parent_process() is None:
        yield
        return
    faulthandler.dump_traceback_later(_DEADLINE + answers * _DEADLINE_PER_ANSWER, exit=True, file=_nowhere())
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@functools.cache
def _nowhere() -> IO[str]:
    return Path(os.devnull).open("w")


# ---- one answer ------------------------------------------------------------------------------------------------------


def _mark(job: Job, about: About, read: Read) -> Mark:
    started = time.monotonic()
    submission, worth = job.submission, job.assignment.points[about.id]
    mark = Mark(
        submission.key,
        submission.student,
        about.id,
        "missing",
        out_of=worth,
        attempts=submission.attempts.get(about.chapter, 0),
    )
    try:
        mark = _graded(job, about, read, mark)
    except hidden.HiddenError:
        raise
    except Exception as error:
        # Nothing that a student hands in may cost another one a row.
        told = shown(f"The grader failed: {type(error).__name__}: {error}", _MOST_TOLD)
        mark = dataclasses.replace(mark, status="error", for_teacher=told)
    return dataclasses.replace(mark, seconds=round(time.monotonic() - started, 3))


def _graded(job: Job, about: About, read: Read, mark: Mark) -> Mark:
    if read.sheet is None:
        status = "unreadable" if read.problem else "missing"
        return dataclasses.replace(mark, status=status, message=shown(read.problem, _MOST_TOLD))
    if about.answer in read.untouched:
        # What the book wrote is no idea of the student's.
        return dataclasses.replace(mark, message=f"Not begun: `{about.answer}` is as it was handed out.")
    exercise = checks.find(about.id)
    assert exercise, f"{about.id} has no check"
    seed = job.seed_for(about.id, "public")
    outcome = _observed(job, about, read, seed)
    tried = _tried(exercise, about, read, outcome, seed)
    if tried.rule:
        where = f"Seed {seed}. {_which(job, about, read)}"
        told = tried.for_teacher or tried.message
        return dataclasses.replace(mark, **tried.fields(), status=tried.status, for_teacher=_joined(told, where))
    unproven = dict.fromkeys(tried.unproven)
    for name, variant, seed, text in _variants(job, exercise):
        tried = _tried(variant, about, read, _observed(job, about, read, seed, text), seed)
        unproven |= dict.fromkeys(tried.unproven)
        if tried.rule:
            # Nothing of the variant may reach the student: neither names nor values nor what the code says of them.
            return dataclasses.replace(
                mark,
                status="public",
                points=mark.out_of * job.assignment.public_share,
                rule=tried.rule,
                message=_UNSEEN.format(tried.rule.replace("_", " ")),
                for_teacher=_joined(f"{name}: {tried.for_teacher or tried.message}", f"Seed {seed}."),
                read=tried.read,
                unproven=tuple(unproven),
            )
    return dataclasses.replace(mark, status="passed", points=mark.out_of, unproven=tuple(unproven))


_UNSEEN = "The public checks pass; on a model or inputs that you have not seen, the property “{}” does not hold."


def _variants(job: Job, exercise: Exercise) -> Iterator[tuple[str, Exercise, int, str]]:
    """The hidden variants of an exercise: what to call each, the exercise, the seed, the text for the sandbox."""
    found = hidden.read(job.assignment.hidden)
    for number, seed in enumerate(found.seeds, 1):
        own = job.seed_for(exercise.id, f"hidden {number}") if seed is None else seed
        yield f"Hidden seed {number} of {len(found.seeds)}", exercise, own, ""
    if exercise.id in found.exercises:
        seed = job.seed_for(exercise.id, "hidden cases")
        yield "Hidden cases", found.exercises[exercise.id], seed, job.assignment.hidden


def _observed(job: Job, about: About, read: Read, seed: int, text: str = "") -> Outcome:
    """Observe an answer; where the cells above it do not let it, with those alone that it needs."""
    assert read.sheet
    outcome = _in_sandbox(job.trusted, read.sheet, about, seed, text)
    if outcome.data is None and (only := read.only(about.answer)):
        outcome = _in_sandbox(job.trusted, only, about, seed, text)
    return outcome


def _in_sandbox(trusted: bool, sheet: sheets.Sheet, about: About, seed: int, text: str) -> Outcome:
    try:
        return _sandbox(trusted).observe(sheet, about.id, about.answer, seed, text)
    except SandboxError:
        # A sandbox may have died with what it was asked before; a second failure is this answer's or the machine's.
        close()
        return _sandbox(trusted).observe(sheet, about.id, about.answer, seed, text)


@dataclasses.dataclass(frozen=True)
class _Tried:
    """What came of an answer on one variant; ``rule`` is ``""`` where everything holds."""

    rule: str = ""
    message: str = ""
    for_teacher: str = ""
    node: str = ""
    read: str = ""
    line: str = ""
    graph: JSON = None
    unproven: tuple[str, ...] = ()
    status: str = "failed"

    def fields(self) -> dict[str, Any]:
        """Those that a mark has too."""
        return {name: getattr(self, name) for name in ("rule", "message", "node", "read", "line", "graph", "unproven")}


def _tried(exercise: Exercise, about: About, read: Read, outcome: Outcome, seed: int) -> _Tried:
    name = read.sheet.name if read.sheet else ""
    if outcome.data is None:
        return _Tried("ends well", f"Your code {_ENDED.get(outcome.ended, outcome.ended)}.", read=about.read)
    seen = outcome.data if isinstance(outcome.data, dict) else {}
    raised = _raised(seen, set(read.alone[about.answer]))
    if seen.get("observation") is None:
        if not read.homes[about.answer]:
            return _Tried("answered", f"No cell of {name} gives the name `{about.answer}`.", status="missing")
        return _Tried("answered", _joined(f"`{about.answer}` could not be defined.", raised), read=about.read)
    judgement = judge_apart(exercise, seen["observation"], seed)
    verdict = judgement.verdict
    if verdict.violation is None:
        return _Tried(unproven=tuple(shown(one, 200) for one in judgement.unproven))
    violation, graph = verdict.violation, verdict.graph
    message = _joined(violation.message, raised)
    case = f"Case “{exercise.cases[verdict.case].name}”." if verdict.case is not None else ""
    written = json.dumps(graph.to_json() if graph is not None else None)
    node = graph.nodes[violation.node].name if graph is not None and violation.node is not None else ""
    return _Tried(
        violation.rule,
        message,
        _joined(message, case),
        shown(node),
        violation.look or about.read,
        shown(verdict.line or "", 200),
        json.loads(written) if len(written) <= _MOST_GRAPH else None,
        tuple(shown(one, 200) for one in judgement.unproven),
    )


def _raised(seen: JSON, needed: set[int]) -> str:
    """What the first cell says that the answer needs and that raised."""
    failed = seen.get("failed")
    for one in failed if isinstance(failed, list) else []:
        if isinstance(one, dict) and isinstance(one.get("cell"), int) and one["cell"] in needed:
            return shown(f"Cell {one['cell']} raises {one.get('type')}: {one.get('message')}", 300)
    return ""


def _joined(*told: str) -> str:
    return shown(" ".join(filter(None, told)), _MOST_TOLD)


def _which(job: Job, about: About, read: Read) -> str:
    """What a teacher may want to know of how the answer was found."""
    told = []
    if (attempts := job.submission.attempts.get(about.chapter, 0)) > 1:
        told.append(f"{read.sheet.name if read.sheet else ''} counts, the last of {attempts} versions.")
    if len(homes := read.homes.get(about.answer, [])) > 1:
        told.append(f"`{about.answer}` is defined {len(homes)} times: cell {homes[-1]} counts.")
    return " ".join(told)
