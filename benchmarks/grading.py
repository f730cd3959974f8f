"""How long a class takes to grade, and where the time goes: ``python benchmarks/grading.py [STUDENTS] [--seeds N]``.

A class hands in six exercises, in all shapes of ``tests/classroom/students.py``, with answers that are mostly right;
all of it is graded in the sandbox. Then the book's own answers are graded one by one, stage by stage, on one processor.
The floor is what no grader can do without: use the answer once and judge it once, in one process that never forks.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import functools
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from classroom.assignment import Assignment, of_chapters
from classroom.collect import submissions
from classroom.grade import grading
from classroom.grade.gradebook import Gradebook
from tests.classroom import students as class_

CHAPTER = "02"
_TIMES = 5


def whole(folder: Path, students: int, assignment: Assignment, workers: grading.LocalWorkers) -> float:
    """Grade a class; the wall-clock seconds, from the folder to the table."""
    class_.make(folder / "class", students, [about.id for about in assignment.exercises])
    started = time.perf_counter()
    handed_in = submissions.find(folder / "class", assignment)
    print(f"found {len(handed_in)} submissions in {time.perf_counter() - started:.1f} s")
    marks = grading.run(handed_in, assignment, folder / "marks", workers)
    seconds = time.perf_counter() - started
    counts = collections.Counter(mark.status for mark in marks)
    print(f"{len(marks)} rows: {', '.join(f'{many} {status}' for status, many in counts.most_common())}")
    return seconds


def stages(assignment: Assignment) -> dict[str, float]:
    """Milliseconds for an answer in each stage: medians over repetitions, the mean over the exercises."""
    from classroom.collect.reading import read_sheet
    from classroom.grade.records import Submission
    from classroom.sandbox import Sandbox
    from fxbook import tasks
    from fxbook.asking import Exercise
    from fxbook.checking.judge import judge
    from fxbook.checking.prepare import prepare
    from fxbook.learning import sheets

    def use_once(exercise: Exercise, answer: str) -> None:
        sheets.observe_answer(sheet, prepare(exercise, 1), answer)

    [chapter] = assignment.chapters
    given = {about.id: class_.solution(about.id) for about in assignment.exercises}
    data = class_.as_bytes(class_.notebook(chapter, given))
    submission = Submission("a", "A", {chapter: data}, {chapter: f"{chapter}.ipynb"})
    sheet = sheets.parse(f"{chapter}.ipynb", data)
    timings: dict[str, list[float]] = collections.defaultdict(list)
    with (
        Sandbox(chapters=[CHAPTER]) as sandbox,
        tempfile.TemporaryDirectory() as folder,
        Gradebook(Path(folder)) as book,
    ):
        reading = _milliseconds(lambda: read_sheet(submission, assignment, chapter, sandbox))
        keeping = _milliseconds(lambda: book.keep("a", "d", []))
        for about in assignment.exercises:
            exercise = tasks.find(about.id)
            assert exercise
            bare = functools.partial(use_once, exercise, about.answer)
            observed = functools.partial(sandbox.observe, sheet, about.id, about.answer, 1)
            observation = observed().data["observation"]
            timings["use the answer once (floor)"].append(_milliseconds(bare))
            timings["judge it once (floor)"].append(_milliseconds(functools.partial(judge, exercise, observation, 1)))
            timings["observed in the sandbox"].append(_milliseconds(observed))
            judged = functools.partial(sandbox.judge, about.id, observation, 1)
            timings["judged in the sandbox"].append(_milliseconds(judged))
    many = len(assignment.exercises)
    return {
        **{name: statistics.mean(times) for name, times in timings.items()},
        "read the sheet": reading / many,
        "keep the marks": keeping / many,
    }


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
    timings = stages(assignment)
    floor = sum(ms for name, ms in timings.items() if name.endswith("(floor)"))
    for name, ms in timings.items():
        print(f"{name:30}{ms:8.1f} ms{ms / floor:8.2f} x floor")
    alone = sum(ms for name, ms in timings.items() if not name.endswith("(floor)"))
    print(f"{'floor':30}{floor:8.1f} ms{1:8.2f} x floor")
    print(f"{'all stages':30}{alone:8.1f} ms{alone / floor:8.2f} x floor")
    print(f"{'in the class':30}{each:8.1f} ms{each / floor:8.2f} x floor")


if __name__ == "__main__":
    main()
