"""Grade one student: read each sheet, then observe and judge each answer, in rooms of the sandbox.

A worker is a process on this machine or another. It keeps one sandbox, parses only JSON and text, and never imports
torch.
"""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import functools
import multiprocessing
import operator
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from classroom.collect.names import shown
from classroom.collect.reading import ParsedSheet
from classroom.grade.jobs import Job
from classroom.grade.records import UNSEEN, Mark
from classroom.grade.select_version import MOST_GRADED, VersionSelector
from classroom.sandbox import Sandbox, SandboxError
from fxbook.grading import About, Outcome

JSON = Any
# The time limit of a worker in seconds, with allowances for sheets and answers. A worker that takes longer is killed.
_DEADLINE, _DEADLINE_PER_SHEET, _DEADLINE_PER_ANSWER = 120.0, 60.0, 300.0
_MOST_TOLD = 600
_ENDED = {
    "time": "was still running when time ran out: it may loop for ever",
    "exit": "ended the Python process (os._exit or the like)",
    "crash": "crashed the Python process: endless recursion, too much memory, or corrupted memory",
    "silent": "closed or flooded the channel through which its result is read",
}
_JUDGE_ENDED = {
    "time": "Rebuilding and running the graph of your answer took the grader too long.",
    "exit": "Rebuilding and running the graph of your answer ended the grader's process.",
    "crash": "Rebuilding and running the graph of your answer crashed the grader's process.",
    "silent": "The result of running your answer is too large to be judged.",
}


def grade(job: Job) -> list[JSON]:
    """Return one student's marks in the form of :meth:`Mark.to_json`, in the order of the assignment.

    Raises:
        SandboxError: this machine has no sandbox.
    """
    # A Dask worker may have several threads, but there is only one sandbox.
    with _one_at_a_time, _deadline(job):
        sandbox = _sandbox(job)
        choices = {chapter: VersionSelector(job, chapter, sandbox) for chapter in job.assignment.chapters}
        return [_mark(job, about, choices[about.chapter]).to_json() for about in job.assignment.exercises]


# ---- the worker's sandbox --------------------------------------------------------------------------------------------

_one_at_a_time = threading.Lock()
_sandboxes: dict[bool, Sandbox] = {}


def _sandbox(job: Job) -> Sandbox:
    if job.trusted not in _sandboxes:
        chapters = [chapter.partition("_")[0] for chapter in job.assignment.chapters]
        _sandboxes[job.trusted] = Sandbox(trusted=job.trusted, chapters=chapters)
        _sandboxes[job.trusted].start()
    return _sandboxes[job.trusted]


def close() -> None:
    while _sandboxes:
        _sandboxes.popitem()[1].close()


@contextlib.contextmanager
def _deadline(job: Job) -> Iterator[None]:
    """Kill this worker process if the body does not end, so that the sender of the job notices."""
    if multiprocessing.parent_process() is None:
        yield
        return
    answers = len(job.assignment.exercises) * (MOST_GRADED if job.assignment.counts == "best" else 1)
    sheets = sum(len(own) for own in job.submission.versions.values())
    seconds = _DEADLINE + sheets * _DEADLINE_PER_SHEET + answers * _DEADLINE_PER_ANSWER
    faulthandler.dump_traceback_later(seconds, exit=True, file=_nowhere())
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@functools.cache
def _nowhere() -> IO[str]:
    return Path(os.devnull).open("w")


# ---- one answer ------------------------------------------------------------------------------------------------------


def _mark(job: Job, about: About, choice: VersionSelector) -> Mark:
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
        rule = job.assignment.deadline.rule
        marks = [
            candidate.taken(_graded(job, about, candidate.read, mark), rule) for candidate in choice.for_exercise(about)
        ]
        # Of several versions with equal points, the last one counts.
        mark = max(reversed(marks), key=lambda mark: mark.points)
    except Exception as error:
        # A failure on one student must not cost others their marks.
        reason = shown(f"The grader failed: {type(error).__name__}: {error}", _MOST_TOLD)
        mark = dataclasses.replace(mark, status="error", for_teacher=reason)
    return dataclasses.replace(mark, seconds=round(time.monotonic() - started, 3))


def _graded(job: Job, about: About, read: ParsedSheet, mark: Mark) -> Mark:
    if read.sheet is None:
        status = "unreadable" if read.problem else "missing"
        fields = {"message": shown(read.problem, _MOST_TOLD), "for_teacher": shown(read.reason, _MOST_TOLD)}
        return dataclasses.replace(mark, status=status, **fields)
    if about.answer in read.untouched:
        # The stub is not the student's code, so its text is left out.
        fields = {"message": f"Not begun: `{about.answer}` is unchanged.", "remark": _not_found(about, read)}
        return dataclasses.replace(mark, **fields)
    source, plain = read.texts.get(about.answer, ("", ""))
    mark = dataclasses.replace(mark, remark=_found_as(about, read), source=source, plain=plain)
    seed = job.seed_for(about.id, "public")
    tried = _tried(job, about, read, seed)
    if tried.rule:
        where = f"Seed {seed}. {_which(about, read)}"
        reason = tried.for_teacher or tried.message
        if tried.status == "missing":
            return dataclasses.replace(mark, **tried.fields(), status="missing", remark=_not_found(about, read))
        return dataclasses.replace(mark, **tried.fields(), status=tried.status, for_teacher=_joined(reason, where))
    unproven = dict.fromkeys(tried.unproven)
    for name, seed, text in _variants(job, about.id):
        tried = _tried(job, about, read, seed, text)
        unproven |= dict.fromkeys(tried.unproven)
        if tried.rule:
            # Nothing about the variant may reach the student: no names or values, no errors from the code, and not the
            # violated property, which the code could choose. Only the teacher sees the rule.
            return dataclasses.replace(
                mark,
                status="public",
                points=mark.out_of * job.assignment.public_share,
                rule=tried.rule,
                message=UNSEEN,
                for_teacher=_joined(f"{name}: {tried.for_teacher or tried.message}", f"Seed {seed}."),
                read=tried.read,
                unproven=tuple(unproven),
            )
    return dataclasses.replace(mark, status="passed", points=mark.out_of, unproven=tuple(unproven))


def _variants(job: Job, exercise_id: str) -> Iterator[tuple[str, int, str]]:
    """Yield the name, seed and text of hidden cases for each hidden variant."""
    for number, seed in enumerate(job.seeds, 1):
        own = job.seed_for(exercise_id, f"hidden {number}") if seed is None else seed
        yield f"Hidden seed {number} of {len(job.seeds)}", own, ""
    if exercise_id in job.with_hidden_cases:
        yield "Hidden cases", job.seed_for(exercise_id, "hidden cases"), job.assignment.hidden


def _observed(job: Job, about: About, read: ParsedSheet, seed: int, text: str) -> Outcome:
    """Observe an answer. If that fails with the whole sheet, use only the cells that the answer needs."""
    assert read.sheet
    name = read.renamed_to.get(about.answer, about.answer)
    outcome = Outcome(None, "silent")
    for sheet in filter(None, (read.sheet, read.only(about.answer))):
        outcome = _again(job, operator.methodcaller("observe", sheet, about.id, name, seed, text))
        if outcome.data is not None:
            break
    return outcome


def _again(job: Job, work: Callable[[Sandbox], Outcome]) -> Outcome:
    """Run work in the sandbox, and once more in a new one if an earlier task killed the sandbox."""
    try:
        return work(_sandbox(job))
    except SandboxError:
        close()
        return work(_sandbox(job))


@dataclasses.dataclass(frozen=True)
class _Tried:
    """The result of an answer on one variant; ``rule`` is ``""`` if everything holds."""

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
        return {name: getattr(self, name) for name in ("rule", "message", "node", "read", "line", "graph", "unproven")}


def _tried(job: Job, about: About, read: ParsedSheet, seed: int, text: str = "") -> _Tried:
    outcome = _observed(job, about, read, seed, text)
    name = read.sheet.name if read.sheet else ""
    if outcome.data is None:
        return _Tried("ends well", f"Your code {_ENDED.get(outcome.ended, outcome.ended)}.", read=about.read)
    observed = outcome.data
    raised = _raised(observed, set(read.required_cells[about.answer]))
    if observed["observation"] is None:
        if not read.defined_in[about.answer]:
            return _Tried("answered", f"No cell of {name} defines `{about.answer}`.", status="missing")
        own_name = shown(read.renamed_to.get(about.answer, about.answer), 80)
        return _Tried("answered", _joined(f"`{own_name}` could not be defined.", raised), read=about.read)
    judge = operator.methodcaller("judge", about.id, observed["observation"], seed, text)
    judged = _again(job, judge)
    if judged.data is None and judged.ended != "time":
        # Try once more: a machine that is short of memory may kill the wrong process.
        judged = _again(job, judge)
    if judged.data is None:
        return _Tried("ends well", _JUDGE_ENDED[judged.ended], read=about.read)
    judgement = judged.data
    unproven = tuple(shown(claim, 200) for claim in judgement["unproven"])
    if not judgement["rule"]:
        return _Tried(unproven=unproven)
    message = _joined(judgement["message"], raised)
    case = f"Case “{judgement['case']}”." if judgement["case"] else ""
    return _Tried(
        shown(judgement["rule"], 100),
        message,
        _joined(message, case),
        shown(judgement["node"]),
        shown(judgement["read"], 200) or about.read,
        shown(judgement["line"], 200),
        judgement["graph"],
        unproven,
    )


def _raised(observed: JSON, needed: set[int]) -> str:
    """The error from the first cell that raised one and that the answer needs."""
    failed = observed.get("failed")
    for error in failed if isinstance(failed, list) else []:
        if isinstance(error, dict) and isinstance(error.get("cell"), int) and error["cell"] in needed:
            return shown(f"Cell {error['cell']} raises {error.get('type')}: {error.get('message')}", 300)
    return ""


def _joined(*sentences: str) -> str:
    return shown(" ".join(filter(None, sentences)), _MOST_TOLD)


def _which(about: About, read: ParsedSheet) -> str:
    if len(homes := read.defined_in.get(about.answer, [])) > 1:
        name = read.renamed_to.get(about.answer, about.answer)
        return f"`{shown(name, 80)}` is defined {len(homes)} times: cell {homes[-1]} counts."
    return ""


def _found_as(about: About, read: ParsedSheet) -> str:
    name = read.renamed_to.get(about.answer, "")
    return f"Found under the name `{shown(name, 80)}`, which is passed to the check." if name else ""


def _not_found(about: About, read: ParsedSheet) -> str:
    """A remark on a sheet that the student worked on but that lacks the answer."""
    sentences = []
    if written := read.called.get(about.answer, ""):
        sentences.append(f"The check is called with `{shown(written, 120).replace('`', '')}`, which is not a name.")
    if read.unused_functions:
        listed = ", ".join(f"`{shown(name, 80)}`" for name in read.unused_functions)
        sentences.append(f"No answer uses {listed}: is it an answer under another name?")
    if not sentences and read.worked and not read.defined_in.get(about.answer):
        sentences.append("The rest of the sheet was worked on.")
    return _joined(*sentences)
