"""A class of five, from the handed-out zip to marks and reports: in the sandbox, or trusted if there is none.

``classroom/tests`` covers everything else about the grader and its reports.
"""

from __future__ import annotations

import contextlib
import csv
import io
import zipfile
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat import NotebookNode

from classroom.__main__ import main
from classroom.tests import students as class_
from classroom.tests.grade.parts import ASSIGNMENT, CHAPTER, UNSAFE
from classroom.tests.handing_in import Change, answer, handed_in

EXERCISES = [about.id for about in ASSIGNMENT.exercises]
CLAMP, ORDER = "02-clamp-the-output", "02-put-in-order"
# An answer that writes into the teacher's folder, then ends its process.
HOSTILE = """
def put_in_order(traced):
    import os
    try:
        open({!r}, "w").close()
    finally:
        os._exit(0)
"""


class Week(NamedTuple):
    """The folder of marks, the output of the command, and the file that a hostile answer tries to write."""

    marks: Path
    printed: str
    planted: Path

    def rows_of(self, student: str) -> list[dict[str, str]]:
        with (self.marks / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
            return [row for row in csv.DictReader(file) if row["student"] == student]

    def report(self, student: str) -> str:
        return text_of(self.marks / "students" / student.lower() / "report.html")


def text_of(page: Path) -> str:
    return " ".join(BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").get_text(" ").split())


# ---- what students do ------------------------------------------------------------------------------------------------


def right(notebook: NotebookNode) -> None:
    for exercise in EXERCISES:
        answer(notebook, class_.solution(exercise).source)


def wrong(notebook: NotebookNode) -> None:
    """Everything right except a forgotten line."""
    right(notebook)
    whole = class_.solution(CLAMP).source
    forgotten = whole.removesuffix("    traced.recompile()")
    assert forgotten != whole
    answer(notebook, forgotten)


def nothing(notebook: NotebookNode) -> None:
    pass


def hostile(planted: Path) -> Change:
    def change(notebook: NotebookNode) -> None:
        right(notebook)
        answer(notebook, HOSTILE.format(str(planted)))

    return change


def hand_in(folder: Path, student: str, text: str) -> None:
    (folder / student).mkdir(parents=True)
    (folder / student / f"{CHAPTER}.ipynb").write_text(text, encoding="utf-8")


# ---- the commands ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    assert main(["release", "--chapters", "02", "--out", str(folder / "week.zip")]) == 0
    with zipfile.ZipFile(folder / "week.zip") as archive:
        archive.extractall(folder / "week")
    return folder / "week"


@pytest.fixture(scope="module")
def week(handed_out: Path, tmp_path_factory: pytest.TempPathFactory) -> Week:
    folder = tmp_path_factory.mktemp("class")
    marks, planted = folder / "marks", folder / "planted"
    [path] = handed_out.rglob(f"{CHAPTER}.ipynb")
    sheet = nbformat.read(path, as_version=4)
    for student, change in {"Anna": right, "Ben": wrong, "Carl": nothing, "Eve": hostile(planted)}.items():
        hand_in(folder / "class", student, handed_in(sheet, change))
    whole = handed_in(sheet, right)
    hand_in(folder / "class", "Dora", whole[: len(whole) // 2])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        # One worker, because each takes seconds to load torch.
        arguments = ["grade", str(folder / "class"), "--chapters", "02", "--out", str(marks), "--workers", "1"]
        status = main([*arguments, *["--trusted"] * UNSAFE])
    assert status == 0, printed.getvalue()
    return Week(marks, printed.getvalue(), planted)


# ---- results ---------------------------------------------------------------------------------------------------------


def test_handout_contains_no_solution(handed_out: Path) -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in handed_out.rglob("*") if path.is_file()}
    assert {f"{CHAPTER}.ipynb", "handout.html", "README.md"} <= set(texts)
    for exercise in EXERCISES:
        telling = max(class_.solution(exercise).source.splitlines()[2:], key=len).strip()
        assert [name for name, text in texts.items() if telling in text] == [], telling


@pytest.mark.parametrize(
    ("student", "status", "instead"),
    [
        ("Anna", "passed", {}),
        ("Ben", "passed", {CLAMP: ("failed", "recompiled")}),
        ("Carl", "missing", {}),
        ("Dora", "unreadable", {}),
        ("Eve", "passed", {ORDER: ("failed", "ends well")}),
    ],
)
def test_each_answer_has_a_row_with_points(
    week: Week, student: str, status: str, instead: dict[str, tuple[str, str]]
) -> None:
    rows = week.rows_of(student)
    assert [row["exercise"] for row in rows] == EXERCISES
    for row in rows:
        verdict = instead.get(row["exercise"], (status, ""))
        worth = ASSIGNMENT.points[row["exercise"]]
        assert (row["status"], row["rule"]) == verdict, row
        assert (float(row["points"]), float(row["out_of"])) == (worth * (verdict[0] == "passed"), worth)


def test_class_and_students_have_reports(week: Week) -> None:
    assert {page.parent.name for page in week.marks.glob("students/*/report.html")} == {
        "anna", "ben", "carl", "dora", "eve",
    }  # fmt: skip
    overview = text_of(week.marks / "class.html")
    assert "16 of 30 answers" in overview and "Handed in 4 of 5 students" in overview
    assert "5/5 students" in week.printed and "16 of 30 answers" in week.printed
    assert "12 of 12 points" in week.report("Anna")


def test_wrong_answer_names_the_violated_rule(week: Week) -> None:
    says = "The graph has changed, but the compiled code is stale: calling the module runs the old code."
    report = week.report("Ben")
    assert "11 of 12 points" in report and says in report and f'hint("{CLAMP}")' in report
    assert f"{says} 1 student" in text_of(week.marks / "class.html")


def test_empty_and_damaged_sheets_are_reported(week: Week) -> None:
    assert "Not begun: clamp_output is unchanged." in week.report("Carl")
    assert f"{CHAPTER}.ipynb is not a notebook that can be read: it ends too early" in week.report("Dora")
    assert "Traceback" not in week.report("Dora") + week.printed


def test_hostile_answer_affects_nobody_else(week: Week) -> None:
    assert "Your code ended the Python process (os._exit or the like)." in week.report("Eve")
    # A trusted submission succeeds, so it is the sandbox that protects the teacher's files.
    assert week.planted.exists() == UNSAFE
