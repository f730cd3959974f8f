"""Every student gets one row per exercise, and nothing hidden reaches a student."""

from __future__ import annotations

import csv
import dataclasses
import errno
import io
import json
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from classroom.collect import submissions
from classroom.grade import gradebook, grading
from classroom.grade.grading import GradingError, LocalWorkers, graded
from classroom.grade.jobs import Job, jobs_of
from classroom.grade.records import UNSEEN, Mark
from classroom.sandbox import Sandbox
from classroom.tests import students as class_
from classroom.tests.grade.parts import ASSIGNMENT, CHAPTER, EXERCISES, few, handed_in, jobs, needs_sandbox
from classroom.tests.grade.stand_in import answers
from fxbook.observing.forked import Outcome

# ---- a whole class ---------------------------------------------------------------------------------------------------


@needs_sandbox
def test_class_in_every_shape_is_graded(tmp_path: Path) -> None:
    assignment = few()
    students = class_.make(tmp_path / "class", len(class_.SHAPES) + 2, EXERCISES, seed=3)
    students.append(class_.Student("Broken", "damaged", {}, damaged=True))
    (tmp_path / "class/Broken").mkdir()
    (tmp_path / f"class/Broken/{CHAPTER}.ipynb").write_bytes(class_.damaged(class_.notebook(CHAPTER, {}))[1])
    output = io.StringIO()
    collected = submissions.find(tmp_path / "class", assignment)
    marks = grading.run(collected, assignment, tmp_path / "marks", say=output)
    rows = class_.rows(marks)
    assert len(rows) == len(students) * len(EXERCISES)
    for student in students:
        for exercise in EXERCISES:
            row = rows[student.name, exercise]
            if student.damaged:
                assert (row.status, row.points) == ("unreadable", 0) and "is not a notebook" in row.message
                continue
            violated = student.answers[exercise].rule
            assert (row.status == "passed") == (not violated), (student.shape, row)
            assert violated in ("any", row.rule), (student.shape, row)
            # The stub is not the student's own.
            assert (violated == "any") == row.message.startswith("Not begun"), (student.shape, row)
            assert row.points == (0 if violated else row.out_of)
    assert f"{len(students)}/{len(students)} students" in output.getvalue()
    with (tmp_path / "marks/grades.csv").open(encoding="utf-8-sig", newline="") as file:
        table = list(csv.DictReader(file))
    assert [(row["key"], row["exercise"]) for row in table] == [(mark.key, mark.exercise) for mark in marks]

    output.truncate(0)
    again = grading.run(collected, assignment, tmp_path / "marks", say=output)
    assert again == marks and f"unchanged: {len(students)}." in output.getvalue()


HIDDEN = """
import torch
from torch import fx, nn
from fxbook.cases import Case

class SecretModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.secret_layer = nn.Linear(7, 7)

    def forward(self, secret_input):
        return torch.relu(self.secret_layer(secret_input))

CASES = {"02-clamp-the-output": (Case("the secret case", SecretModel, lambda: (torch.randn(2, 7),)),)}
"""
CLAMPS = """
def clamp_output(traced):
    names = [str(node.target) for node in traced.graph.nodes]
    {leak}
    [output] = traced.graph.find_nodes(op="output")
    with traced.graph.inserting_before(output):
        clamped = traced.graph.call_function(torch.clamp, (output.args[0], 0, 6))
    output.args = (clamped,)
    traced.recompile()
"""
LEAKS = {
    "says it": 'if "secret_layer" in names: raise ValueError(names)',
    "names its error so": 'if "secret_layer" in names: raise type("_".join(names), (Exception,), {})()',
    "prints it": "print(names)",
    "names a node so": 'if "secret_layer" in names: traced.graph.placeholder("_".join(names[:2]))',
    "stops": 'if "secret_layer" in names: import os; os._exit(0)',
    "leaves torch changed": 'if "secret_layer" in names: setattr(torch, "relu", names)',
    "returns it": 'if "secret_layer" in names: return "_".join(names)',
}


@pytest.mark.parametrize("leak", LEAKS)
def test_hidden_variants_reach_only_the_teacher(leak: str) -> None:
    from classroom.grade.work import close, grade

    assignment = few("02-clamp-the-output", hidden=HIDDEN, public_share=0.25)
    submission = handed_in("anna", CLAMPS.format(leak=LEAKS[leak]))
    try:
        [row] = grade(*jobs_of([submission], assignment, True, 5))
    finally:
        close()
    mark = Mark.from_json(row)
    if leak in ("prints it", "returns it"):
        assert (mark.status, mark.points) == ("passed", mark.out_of)
    else:
        assert (mark.status, mark.points) == ("public", mark.out_of / 4), mark
        assert mark.message == UNSEEN, "what is told may depend on nothing that the answer chooses"
        assert mark.rule and mark.for_teacher.startswith("Hidden cases: ") and mark.read
        assert leak in ("stops", "leaves torch changed") or "secret" in mark.for_teacher
    for_student = [mark.message, mark.rule, mark.node, mark.read, mark.line, json.dumps(mark.graph)]
    assert not any("secret" in text.lower() for text in (*for_student, *mark.unproven)), for_student
    assert mark.graph is None and not mark.line and not mark.node


@pytest.mark.parametrize(
    ("cells", "status", "says"),
    [
        ([], "missing", "No cell of 02_insertion_points.ipynb defines `put_in_order`."),
        (["def put_in_order(x):\nreturn 1"], "failed", "Cell 2 raises IndentationError"),
        (["def put_in_order(x): return helper(x)", "helper = 1 / 0"], "failed", "Cell 3 raises ZeroDivisionError"),
        (["def put_in_order(x): raise ValueError('no')", "x = 1 / 0"], "failed", "Your code raises ValueError: no"),
        (["import os\ndef put_in_order(x): os._exit(0)"], "failed", "ended the Python process"),
        (["def put_in_order(x): raise ValueError('\\ud800\\x1b[31m' + 'x' * 10**5)"], "failed", "ValueError"),
    ],
)
def test_obstacles_are_reported(cells: list[str], status: str, says: str) -> None:
    from classroom.grade.work import close, grade

    try:
        [row] = grade(Job(handed_in("anna", *cells), few("02-put-in-order"), True, 5))
    finally:
        close()
    assert (row["status"], row["points"]) == (status, 0) and says in row["message"], row
    assert len(row["message"]) <= 600 and row["message"].isprintable() and row["message"].encode()


def test_renamed_answer_is_graded_and_reported(tmp_path: Path) -> None:
    from classroom.grade.work import close, grade

    named, renamed = class_.solution("02-put-in-order").source, "my_own"
    moved = CLAMPS.format(leak="").replace("clamp_output", renamed)
    checks = [f'check("02-clamp-the-output", {renamed})', 'check("02-put-in-order", lambda traced: traced)']
    try:
        for cells, statuses in (((moved, named, *checks), ["passed", "passed"]), (checks, ["missing", "missing"])):
            rows = grade(Job(handed_in("anna", *cells), few(), True, 5))
            marks = {mark["exercise"]: Mark.from_json(mark) for mark in rows}
            assert [marks[name].status for name in sorted(EXERCISES)] == statuses, marks
            clamp, order = (marks[name] for name in sorted(EXERCISES))
            if statuses[0] == "passed":
                assert (
                    clamp.remark == "Found under the name `my_own`, which is passed to the check."
                    and order.remark == ""
                )
                assert "def my_own" in clamp.source and "torch.clamp" in clamp.plain and "my_own" not in clamp.plain
            else:
                assert clamp.remark.startswith("The check is called with `my_own`, which is not a name")
                assert order.remark.startswith("The check is called with `lambda traced: traced`, which is not a name")
            gradebook.write_table(tmp_path / "grades.csv", marks.values())
            assert clamp.remark in (tmp_path / "grades.csv").read_text(encoding="utf-8-sig")
    finally:
        close()


def test_seeds_are_reproducible_and_distinct() -> None:
    job = Job(handed_in("anna"), ASSIGNMENT, False, 1)
    seeds = [
        job.seed_for("02-put-in-order", "hidden 1"),
        job.seed_for("02-clamp-the-output", "public"),
        dataclasses.replace(job, seed=2).seed_for("02-put-in-order", "public"),
        dataclasses.replace(job, submission=handed_in("ben")).seed_for("02-put-in-order", "public"),
    ]
    assert job.seed_for("02-put-in-order", "public") == job.seed_for("02-put-in-order", "public")
    assert len({job.seed_for("02-put-in-order", "public"), *seeds}) == 5
    assert all(0 <= seed < 2**31 for seed in seeds)


# ---- dying workers ---------------------------------------------------------------------------------------------------


def test_dead_worker_loses_no_row(tmp_path: Path) -> None:
    batch = jobs(tmp_path, *("fine",) * 6, "kills", *("fine",) * 4, "dies once", "raises", "fine", "kills too")
    results: dict[str, Any] = {}
    for job, result in graded(batch, LocalWorkers(2), answers):
        assert job.submission.key not in results, "a row is there twice"
        results[job.submission.key] = result
    assert len(results) == len(batch)
    reasons = {job.submission.student.partition("|")[0]: results[job.submission.key] for job in batch}
    assert reasons["kills"] == reasons["kills too"] == "its worker process ended 2 times while it was graded"
    assert reasons["raises"] == "ValueError: told"
    assert isinstance(reasons["dies once"], list) and isinstance(reasons["fine"], list)
    tried = (tmp_path / "log").read_text().splitlines()
    assert tried.count("kills") <= 3


def test_a_pool_that_breaks_while_it_starts_a_worker_loses_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit, broken = ProcessPoolExecutor.submit, []

    def breaks_once(pool: ProcessPoolExecutor, *work: Any) -> Any:
        if not broken:
            broken.append(pool)
            raise OSError(errno.EBADF, "Bad file descriptor")
        if pool is broken[0]:
            raise BrokenProcessPool
        return submit(pool, *work)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", breaks_once)
    batch = jobs(tmp_path, "fine", "fine")
    assert len([result for _, result in graded(batch, LocalWorkers(1), answers) if isinstance(result, list)]) == 2


def test_workers_that_all_die_are_reported(tmp_path: Path) -> None:
    with pytest.raises(GradingError, match="Every worker dies as soon as it gets a submission"):
        list(graded(jobs(tmp_path, *("kills",) * 20), LocalWorkers(2), answers))
    assert len((tmp_path / "log").read_text().splitlines()) < 15


class FastAsleep(Sandbox):
    """A sandbox in which a cell that sleeps runs out of time at once."""

    def observe(self, sheet: Any, *task: Any) -> Outcome:
        sleeps = any("time.sleep" in cell for cell in sheet.cells)
        return Outcome(None, "time") if sleeps else super().observe(sheet, *task)


_SLEEPS = "import time\ntime.sleep(1000)"


@pytest.mark.parametrize("needs_it", [False, True])
def test_endless_cell_costs_only_answers_that_need_it(needs_it: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from classroom.grade import work

    sandbox = FastAsleep(trusted=True)
    monkeypatch.setattr(work, "_sandbox", lambda job: sandbox)
    if needs_it:
        cells = [f"{_SLEEPS}\ndef helper():\n    pass"]
        cells += [f"def {about.answer}(*given):\n    return helper()" for about in ASSIGNMENT.exercises]
    else:
        cells = [_SLEEPS, *(class_.solution(about.id).source for about in ASSIGNMENT.exercises)]
    with sandbox:
        marks = [Mark.from_json(row) for row in work.grade(*jobs_of([handed_in("anna", *cells)], ASSIGNMENT, True, 5))]
    assert {mark.status for mark in marks} == {"failed" if needs_it else "passed"}, marks
