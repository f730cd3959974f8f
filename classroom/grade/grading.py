"""Grade a class: give students to workers, keep the results, and lose no student if a worker dies.

The workers are a :class:`concurrent.futures.Executor`: processes on this machine (:class:`LocalWorkers`), or a
cluster's workers (:mod:`classroom.grade.distributed`).
"""

from __future__ import annotations

import collections
import contextlib
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from pathlib import Path
from typing import Any, Protocol, TextIO

from classroom.assignment import Assignment
from classroom.grade.gradebook import TABLE, Gradebook, digest, write_table
from classroom.grade.jobs import Job, jobs_of
from classroom.grade.progress import Progress
from classroom.grade.records import Mark, Submission

JSON = Any
# A submission is tried once beside others and then once alone; after that it is not tried again.
_MOST_DEATHS = 2
# If this many students in a row fail and none was graded, the machine is at fault.
_MOST_CONDEMNED = 3


class GradingError(Exception):
    """The class cannot be graded; the message says what to do. Finished marks are kept."""


class Workers(Protocol):
    """A pool that runs jobs.

    ``at_once`` is the number of jobs to submit before the first returns. ``died`` holds the errors that blame the
    worker rather than the job.
    """

    at_once: int
    died: tuple[type[BaseException], ...]

    def start(self) -> Executor:
        """Return an executor with live workers; called again after workers died."""

    def stop(self) -> None:
        """Stop all workers at once."""


class LocalWorkers:
    """Processes on this machine, each with its own sandbox.

    Args:
        count: by default, the number of processors that this process may use.
    """

    died: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(self, count: int = 0) -> None:
        self.count = count or _processors()
        self.at_once = 2 * self.count
        self._pool: ProcessPoolExecutor | None = None
        self._others: set[int | None] = set()
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def start(self) -> Executor:
        self.stop()
        forkserver = "forkserver" in multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if forkserver else "spawn")
        if forkserver:
            context.set_forkserver_preload(["classroom.grade.work"])
        self._others = {child.pid for child in multiprocessing.active_children()}
        # The files of a killed worker stay in this folder.
        self._folder = tempfile.TemporaryDirectory(prefix="fxbook-grading-", ignore_cleanup_errors=True)
        self._pool = ProcessPoolExecutor(self.count, context, initializer=_begin_worker, initargs=(self._folder.name,))
        return self._pool

    def stop(self) -> None:
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                if child.pid not in self._others:
                    child.kill()
            self._pool = None
        if self._folder:
            self._folder.cleanup()


def _processors() -> int:
    with contextlib.suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _begin_worker(folder: str) -> None:
    # The parent handles Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tempfile.tempdir = folder
    parent = multiprocessing.parent_process()

    def end_with_parent() -> None:
        assert parent
        parent.join()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _grade(job: Job) -> list[JSON]:
    """Import torch in the worker, not here."""
    from classroom.grade.work import grade

    return grade(job)


def graded(
    jobs: Sequence[Job], workers: Workers, work: Callable[[Job], list[JSON]] = _grade
) -> Generator[tuple[Job, list[JSON] | str], None, None]:
    """Run every job and yield it once, when done, with its result or the reason why there is none.

    When a worker dies, the jobs that were running are run again one by one, which shows which job kills its worker.
    """
    waiting = collections.deque(jobs)
    suspects: collections.deque[Job] = collections.deque()
    deaths: collections.Counter[str] = collections.Counter()
    alone: set[str] = set()
    running: dict[Future[list[JSON]], Job] = {}
    executor: Executor | None = None
    succeeded, condemned = False, 0
    try:
        while waiting or suspects or running:
            if executor is None and not running:
                executor = workers.start()
            while executor and (job := _next(waiting, suspects, len(running), workers.at_once)):
                try:
                    running[_submitted(executor, work, job)] = job
                except workers.died:
                    waiting.appendleft(job)
                    executor = None
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job = running.pop(future)
                try:
                    outcome: list[JSON] | str = future.result()
                    succeeded = True
                except workers.died:
                    executor = None
                    # While several jobs run, any of them may have killed the worker.
                    deaths[job.submission.key] += job.submission.key in alone
                    alone.add(job.submission.key)
                    if deaths[job.submission.key] < _MOST_DEATHS:
                        suspects.append(job)
                        continue
                    outcome = f"its worker process ended {_MOST_DEATHS} times while it was graded"
                    condemned += 1
                    if condemned >= _MOST_CONDEMNED and not succeeded:
                        raise GradingError(_NO_WORKERS) from None
                except CancelledError:
                    raise GradingError(_GONE) from None
                except Exception as error:
                    outcome = f"{type(error).__name__}: {error}"
                yield job, outcome
    finally:
        workers.stop()


_NO_WORKERS = (
    "Every worker dies as soon as it gets a submission, so no student can be graded. Check that "
    "`python -c 'import classroom.grade.work'` works, and that there is memory left."
)
_GONE = (
    "The workers stopped before everything was graded. Finished marks are kept: start the workers, then run the same "
    "command again."
)


def _submitted(executor: Executor, work: Callable[[Job], list[JSON]], job: Job) -> Future[list[JSON]]:
    """Submit a job; if a worker dies while the pool starts another, the pool raises OSError, then that it is broken."""
    try:
        return executor.submit(work, job)
    except OSError:
        return executor.submit(work, job)


def _next(waiting: collections.deque[Job], suspects: collections.deque[Job], running: int, at_once: int) -> Job | None:
    """The next job to run, if any; jobs under suspicion come first, and each of them runs alone."""
    if suspects:
        return None if running else suspects.popleft()
    return waiting.popleft() if waiting and running < at_once else None


def run(
    submissions: Sequence[Submission],
    assignment: Assignment,
    out: Path,
    workers: Workers | None = None,
    *,
    trusted: bool = False,
    again: bool = False,
    say: TextIO | None = None,
) -> list[Mark]:
    """Grade a class into a folder, skip students who are graded already, and write ``grades.csv``.

    Args:
        out: the folder of marks; see :class:`classroom.grade.gradebook.Gradebook`.
        workers: by default, all processors of this machine.
        trusted: run students' code without a sandbox.
        again: also grade students who are graded already.

    Returns:
        A mark for each student and exercise, in the order of the class and the assignment.

    Raises:
        GradebookError: the folder cannot be written.
        KeyboardInterrupt: the run was stopped; finished marks are kept.
    """
    stream = say or sys.stderr
    with Gradebook(out) as book:
        book.begin(assignment, submissions)
        digests = {submission.key: digest(submission, assignment) for submission in submissions}
        marks_of: dict[str, list[Mark]] = {}
        for submission in submissions:
            earlier = None if again else book.marks(submission.key, digests[submission.key])
            if earlier is not None:
                marks_of[submission.key] = earlier
        ungraded = [submission for submission in submissions if submission.key not in marks_of]
        if marks_of:
            print(f"Already graded and unchanged: {len(marks_of)}.", file=stream)
        progress = Progress(len(ungraded), stream)
        progress.begin()
        for job, outcome in graded(jobs_of(ungraded, assignment, trusted, book.seed), workers or LocalWorkers()):
            key = job.submission.key
            marks = _failed(job, outcome) if isinstance(outcome, str) else [Mark.from_json(mark) for mark in outcome]
            book.keep(key, digests[key], marks)
            marks_of[key] = marks
            progress.add(marks)
    every = [mark for submission in submissions for mark in marks_of[submission.key]]
    write_table(out / TABLE, every)
    return every


def _failed(job: Job, reason: str) -> list[Mark]:
    submission, assignment = job.submission, job.assignment
    return [
        Mark(
            submission.key,
            submission.student,
            about.id,
            "error",
            out_of=assignment.points[about.id],
            attempts=submission.attempts.get(about.chapter, 0),
            message="This could not be graded, which is not your fault.",
            for_teacher=f"The grader failed: {' '.join(reason.split())[:500]}",
        )
        for about in assignment.exercises
    ]
