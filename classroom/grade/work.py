"""What a worker does for one student: have each sheet read, each answer observed and judged, in rooms of the sandbox.

A worker is a process, on this machine or another. It keeps one sandbox; it parses JSON and text, and imports no torch.
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
# A worker that does not come back after so many seconds, and so many more for what it does, is taken for dead.
_DEADLINE, _DEADLINE_PER_SHEET, _DEADLINE_PER_ANSWER = 120.0, 60.0, 300.0
_MOST_TOLD = 600
_ENDED = {
    "time": "was still running when time ran out: it may loop for ever",
    "exit": "ended the Python process (os._exit or the like)",
    "crash": "crashed the Python process: recursion without an end, too much memory, or memory that was overwritten",
    "silent": "closed or flooded the channel through which its result is read",
}
_JUDGE_ENDED = {
    "time": "To build and run the graph of your answer again took the grader too long.",
    "exit": "To build and run the graph of your answer again ended the grader's process.",
    "crash": "To build and run the graph of your answer again crashed the grader's process.",
    "silent": "What came back from running your answer is too large to be judged.",
}


def grade(job: Job) -> list[JSON]:
    """The marks of one student, as :meth:`Mark.to_json` describes each, in the assignment's order.

    Raises:
        SandboxError: there is no sandbox on this machine.
    """
    # A worker of Dask may have several threads; there is one sandbox.
    with _one_at_a_time, _deadline(job):
        sandbox = _sandbox(job)
        choices = {chapter: VersionSelector(job, chapter, sandbox) for chapter in job.assignment.chapters}
        return [_mark(job, about, choices[about.chapter]).to_json() for about in job.assignment.exercises]


# ---- the worker's own ------------------------------------------------------------------------------------------------

_one_at_a_time = threading.Lock()
_sandboxes: dict[bool, Sandbox] = {}


def _sandbox(job: Job) -> Sandbox:
    if job.trusted not in _sandboxes:
        chapters = [chapter.partition("_")[0] for chapter in job.assignment.chapters]
        _sandboxes[job.trusted] = Sandbox(trusted=job.trusted, chapters=chapters)
        _sandboxes[job.trusted].start()
    return _sandboxes[job.trusted]


def close() -> None:
    """End the worker's sandbox; the next answer starts another."""
    while _sandboxes:
        _sandboxes.popitem()[1].close()


@contextlib.contextmanager
def _deadline(job: Job) -> Iterator[None]:
    """End this process, where it is a worker, if the body never ends: whoever sent the job sees it die."""
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
        # Of several with as many points the last.
        mark = max(reversed(marks), key=lambda mark: mark.points)
    except Exception as error:
        # Nothing that a student hands in may cost another one a row.
        reason = shown(f"The grader failed: {type(error).__name__}: {error}", _MOST_TOLD)
        mark = dataclasses.replace(mark, status="error", for_teacher=reason)
    return dataclasses.replace(mark, seconds=round(time.monotonic() - started, 3))


def _graded(job: Job, about: About, read: ParsedSheet, mark: Mark) -> Mark:
    if read.sheet is None:
        status = "unreadable" if read.problem else "missing"
        fields = {"message": shown(read.problem, _MOST_TOLD), "for_teacher": shown(read.reason, _MOST_TOLD)}
        return dataclasses.replace(mark, status=status, **fields)
    if about.answer in read.untouched:
        # What the book wrote is no idea of the student's.
        fields = {"message": f"Not begun: `{about.answer}` is as it was handed out.", "remark": _not_found(about, read)}
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
            # Nothing of the variant may reach the student: neither names nor values nor what the code says of them, nor
            # which property it violates there, since the code chooses that too. The rule is for the teacher.
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
    """The hidden variants of an exercise: what to call each, the seed, the text of hidden cases."""
    for number, seed in enumerate(job.seeds, 1):
        own = job.seed_for(exercise_id, f"hidden {number}") if seed is None else seed
        yield f"Hidden seed {number} of {len(job.seeds)}", own, ""
    if exercise_id in job.with_hidden_cases:
        yield "Hidden cases", job.seed_for(exercise_id, "hidden cases"), job.assignment.hidden


def _observed(job: Job, about: About, read: ParsedSheet, seed: int, text: str) -> Outcome:
    """Observe an answer; where the cells above it do not let it, with those alone that it needs."""
    assert read.sheet
    name = read.renamed_to.get(about.answer, about.answer)
    outcome = Outcome(None, "silent")
    for sheet in filter(None, (read.sheet, read.only(about.answer))):
        outcome = _again(job, operator.methodcaller("observe", sheet, about.id, name, seed, text))
        if outcome.data is not None:
            break
    return outcome


def _again(job: Job, work: Callable[[Sandbox], Outcome]) -> Outcome:
    """Do work in the sandbox, in a new one where that fails: it may have died with what it was asked before."""
    try:
        return work(_sandbox(job))
    except SandboxError:
        close()
        return work(_sandbox(job))


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


def _tried(job: Job, about: About, read: ParsedSheet, seed: int, text: str = "") -> _Tried:
    outcome = _observed(job, about, read, seed, text)
    name = read.sheet.name if read.sheet else ""
    if outcome.data is None:
        return _Tried("ends well", f"Your code {_ENDED.get(outcome.ended, outcome.ended)}.", read=about.read)
    observed = outcome.data
    raised = _raised(observed, set(read.required_cells[about.answer]))
    if observed["observation"] is None:
        if not read.defined_in[about.answer]:
            return _Tried("answered", f"No cell of {name} gives the name `{about.answer}`.", status="missing")
        own_name = shown(read.renamed_to.get(about.answer, about.answer), 80)
        return _Tried("answered", _joined(f"`{own_name}` could not be defined.", raised), read=about.read)
    judge = operator.methodcaller("judge", about.id, observed["observation"], seed, text)
    judged = _again(job, judge)
    if judged.data is None and judged.ended != "time":
        # Once more: a machine that is short of memory ends what is at fault for nothing.
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
    """What the first cell says that the answer needs and that raised."""
    failed = observed.get("failed")
    for error in failed if isinstance(failed, list) else []:
        if isinstance(error, dict) and isinstance(error.get("cell"), int) and error["cell"] in needed:
            return shown(f"Cell {error['cell']} raises {error.get('type')}: {error.get('message')}", 300)
    return ""


def _joined(*sentences: str) -> str:
    return shown(" ".join(filter(None, sentences)), _MOST_TOLD)


def _which(about: About, read: ParsedSheet) -> str:
    """What a teacher may want to know of how the answer was found."""
    if len(homes := read.defined_in.get(about.answer, [])) > 1:
        name = read.renamed_to.get(about.answer, about.answer)
        return f"`{shown(name, 80)}` is defined {len(homes)} times: cell {homes[-1]} counts."
    return ""


def _found_as(about: About, read: ParsedSheet) -> str:
    """Under which other name the answer was found, if it was."""
    name = read.renamed_to.get(about.answer, "")
    return f"Found as `{shown(name, 80)}`, which the check calls." if name else ""


def _not_found(about: About, read: ParsedSheet) -> str:
    """What is to be seen of a sheet that was worked on, where it has no answer to an exercise."""
    sentences = []
    if written := read.called.get(about.answer, ""):
        sentences.append(
            f"The check is called with `{shown(written, 120).replace('`', '')}`, which is no name to look for."
        )
    if read.unused_functions:
        listed = ", ".join(f"`{shown(name, 80)}`" for name in read.unused_functions)
        sentences.append(f"No answer uses {listed}: is it one under another name?")
    if not sentences and read.worked and not read.defined_in.get(about.answer):
        sentences.append("The rest of the sheet was worked on.")
    return _joined(*sentences)
