"""Measure how long a class takes to grade, and where the time goes.

``python benchmarks/grading.py [STUDENTS] [--seeds N]``: a class hands in six exercises, in all forms of
``classroom/tests/students.py``, with mostly right answers, and all are graded in the sandbox. Then the book's own
answers are graded one by one, stage by stage, on one processor. The floor is the minimum work of any grader: to use the
answer once and judge it once, in one process without forks. The floor is measured in a single process, and then in as
many processes at once as there are workers.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import functools
import io
import multiprocessing
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from classroom.assignment import Assignment, of_chapters
from classroom.collect import submissions
from classroom.grade import grading
from classroom.grade.gradebook import Gradebook
from classroom.tests import students as class_

CHAPTER = "02"
_TIMES = 5
_together: threading.Barrier


def whole(folder: Path, students: int, assignment: Assignment, workers: grading.LocalWorkers) -> float:
    class_.make(folder / "class", students, [about.id for about in assignment.exercises])
    started = time.perf_counter()
    handed_in = submissions.find(folder / "class", assignment)
    print(f"found {len(handed_in)} submissions in {time.perf_counter() - started:.1f} s")
    marks = grading.run(handed_in, assignment, folder / "marks", workers)
    seconds = time.perf_counter() - started
    counts = collections.Counter(mark.status for mark in marks)
    print(f"{len(marks)} rows: {', '.join(f'{many} {status}' for status, many in counts.most_common())}")
    return seconds


def floor(assignment: Assignment) -> dict[str, float]:
    """Milliseconds to use an answer and to judge it, once each, in this process: medians, averaged over exercises."""
    from fxbook import tasks
    from fxbook.checking.judge import judge
    from fxbook.learning import sheets
    from fxbook.observing.prepare import prepare

    using, judging = [], []
    sheet = sheets.parse(*_solved(assignment))
    for about in assignment.exercises:
        exercise = tasks.find(about.id)
        assert exercise
        observation = sheets.observe_answer(sheet, prepare(exercise, 1, rebuildable=True), about.answer)["observation"]
        using.append(_milliseconds(lambda: sheets.observe_answer(sheet, prepare(exercise, 1), about.answer)))  # noqa: B023
        judging.append(_milliseconds(functools.partial(judge, exercise, observation, 1)))
    return {"use the answer once": statistics.mean(using), "judge it once": statistics.mean(judging)}


def floor_at_once(assignment: Assignment, processes: int) -> float:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(processes)
    with ProcessPoolExecutor(processes, context, initializer=_meet, initargs=(barrier,)) as pool:
        return statistics.mean(pool.map(_floor_together, [assignment] * processes))


def _meet(barrier: threading.Barrier) -> None:
    global _together
    _together = barrier


def _floor_together(assignment: Assignment) -> float:
    floor(assignment)  # Warms the imports and caches.
    _together.wait()
    return sum(floor(assignment).values())


def stages(assignment: Assignment) -> dict[str, float]:
    """Milliseconds for an answer in each stage: medians over repetitions, averaged over the exercises."""
    from classroom.collect.reading import read_sheet
    from classroom.grade.records import Submission
    from classroom.sandbox import Sandbox
    from fxbook.learning import sheets

    [chapter] = assignment.chapters
    name, data = _solved(assignment)
    submission = Submission("a", "A", {chapter: data}, {chapter: name})
    sheet = sheets.parse(name, data)
    timings: dict[str, list[float]] = collections.defaultdict(list)
    with (
        Sandbox(chapters=[CHAPTER]) as sandbox,
        tempfile.TemporaryDirectory() as folder,
        Gradebook(Path(folder)) as book,
    ):
        reading = _milliseconds(lambda: read_sheet(submission, assignment, chapter, sandbox))
        keeping = _milliseconds(lambda: book.keep("a", "d", []))
        for about in assignment.exercises:
            observed = functools.partial(sandbox.observe, sheet, about.id, about.answer, 1)
            observation = observed().data["observation"]
            timings["observed in the sandbox"].append(_milliseconds(observed))
            judged = functools.partial(sandbox.judge, about.id, observation, 1)
            timings["judged in the sandbox"].append(_milliseconds(judged))
    many = len(assignment.exercises)
    return {
        **{name: statistics.mean(times) for name, times in timings.items()},
        "read the sheet": reading / many,
        "keep the marks": keeping / many,
    }


def _solved(assignment: Assignment) -> tuple[str, bytes]:
    [chapter] = assignment.chapters
    given = {about.id: class_.solution(about.id) for about in assignment.exercises}
    return f"{chapter}.ipynb", class_.as_bytes(class_.notebook(chapter, given))


def _milliseconds(work: Callable[[], object]) -> float:
    work()
    times = []
    for _ in range(_TIMES):
        started = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            work()
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("students", nargs="?", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=0, help="hidden variants of each exercise")
    parser.add_argument("--workers", type=int, default=0)
    options = parser.parse_args()
    hidden = f"SEEDS = {options.seeds}" if options.seeds else ""
    assignment = dataclasses.replace(of_chapters([CHAPTER]), hidden=hidden)
    workers = grading.LocalWorkers(options.workers)
    with tempfile.TemporaryDirectory() as folder:
        seconds = whole(Path(folder), options.students, assignment, workers)
    answers = options.students * len(assignment.exercises)
    each = 1000 * seconds * workers.count / answers
    print(f"{options.students} students, {answers} answers, {options.seeds} hidden variants: {seconds:.0f} s")
    print(f"{each:.0f} ms of each of {workers.count} workers for an answer\n\nOne answer alone, on one processor:")
    alone, processed = floor(assignment), stages(assignment)
    least, together = sum(alone.values()), floor_at_once(assignment, workers.count)
    rows = {
        **{f"{name} (floor)": ms for name, ms in alone.items()},
        "floor": least,
        **processed,
        "all stages": sum(processed.values()),
    }
    for name, ms in rows.items():
        print(f"{name:30}{ms:8.1f} ms{ms / least:8.2f} x floor")
    print(f"\n{workers.count} at once:")
    print(f"{'floor':30}{together:8.1f} ms")
    print(f"{'in the class':30}{each:8.1f} ms{each / together:8.2f} x floor")


if __name__ == "__main__":
    main()
