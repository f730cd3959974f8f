"""nbgrader and our grader give a class the same marks, except where nbgrader cannot see an answer."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

from classroom.assignment import of_chapters
from classroom.collect.content import chapters
from classroom.exports import nbgrader
from classroom.tests.handing_in import CLASS, graded_by_nbgrader, graded_by_us, marks_of_nbgrader, needs_nbgrader

# nbgrader runs a notebook from top to bottom, so it misses an answer below its check.
DIFFERENT = {("cells_moved", "00-readers"): (0.0, 1.0)}


@needs_nbgrader
def test_marks_of_a_class_are_equal(tmp_path: Path) -> None:
    theirs, output = graded_by_nbgrader(tmp_path, CLASS)
    ours = graded_by_us(tmp_path / "submitted")
    assert {student for student, _ in ours} == set(CLASS) and "ERROR" not in output
    assert {place: (theirs.get(place), ours[place]) for place in ours if theirs.get(place) != ours[place]} == DIFFERENT
    assert len(ours) == len(theirs)
    exported = nbgrader.run(tmp_path, "export")
    assert exported.returncode == 0, exported.stderr
    with (tmp_path / "grades.csv").open(encoding="utf-8", newline="") as file:
        totals = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert totals == {name: sum(worth for (student, _), worth in theirs.items() if student == name) for name in CLASS}


@needs_nbgrader
def test_solutions_of_the_whole_book_get_all_points_and_empty_sheets_none(tmp_path: Path) -> None:
    whole = of_chapters(list(chapters()), "All")
    source = nbgrader.write(whole, tmp_path)
    for student, sheets in (("solved", source), ("empty", nbgrader.make_release(source))):
        shutil.copytree(sheets, tmp_path / "submitted" / student / source.name)
    done = nbgrader.run(tmp_path, "autograde", source.name)
    assert done.returncode == 0, done.stderr
    marks = marks_of_nbgrader(tmp_path, source.name)
    assert {identity: marks["solved", identity] for identity in whole.points} == dict(whole.points)
    assert {marks["empty", identity] for identity in whole.points} == {0}
