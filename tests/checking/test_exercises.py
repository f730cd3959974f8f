"""Exercises fail as handed out, solutions pass, and exercise notebooks contain no trace of a solution.

nbval runs each solution and its check; the stored output must say that the solution passes.
"""

from __future__ import annotations

import html
import json
import linecache
import re
from functools import cache
from typing import Any

import pytest

from fxbook import check
from fxbook.cases.exercise import drawn_order
from fxbook.catalogue import catalogue
from fxbook.graph.record import record
from fxbook.tasks import all_exercises
from press import ROOT
from press.book import the_book
from press.manuscript.questions import as_markdown
from press.manuscript.sheet import ExerciseSheet
from press.manuscript.task import Exercise
from press.printing.execution import NOTEBOOK_SEED
from press.printing.freshness import INDEX, SECTIONS, reports_in
from tests.checking.exercise_for_tests import DEEP, SHALLOW, an_exercise

SHEETS = the_book().sheets()
EXERCISES = [(sheet, exercise) for sheet in SHEETS for exercise in sheet.exercises]
by_id = pytest.mark.parametrize(("sheet", "exercise"), EXERCISES, ids=[exercise.id for _, exercise in EXERCISES])
LEAST_PER_CHAPTER = 4


@cache
def names(chapter: str, until: str) -> dict[str, Any]:
    """The names that the handed-out cells define, up to the check of the exercise ``until``."""
    sheet = the_book().sheet_of(chapter)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    sources = [cell.source for cell in sheet.opening if cell.kind == "code"]
    for exercise in sheet.exercises:
        sources += [cell.source for cell in exercise.stub if not cell.source.startswith("check(")]
        if exercise.id == until:
            break
    for number, source in enumerate(sources):
        name = f"<stub of {chapter}, cell {number}>"
        # A report quotes the lines of an answer from this cache, which IPython fills for cells.
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), namespace)
    return namespace


@by_id
def test_an_exercise_is_four_files(sheet: ExerciseSheet, exercise: Exercise) -> None:
    files = {path.name for path in exercise.path.parent.iterdir()} - {"__pycache__"}
    assert files == {"task.md", "cases.py", "check.py", "answers.py"}


@by_id
def test_exercise_fails_as_handed_out_with_the_report_in_its_notebook(sheet: ExerciseSheet, exercise: Exercise) -> None:
    report = check(exercise.id, names(sheet.chapter, exercise.id)[exercise.answer], seed=NOTEBOOK_SEED)
    assert not report.passed
    notebook = the_book().stored(ROOT / "exercises" / f"{sheet.chapter}.ipynb")
    stored = reports_in(notebook, (exercise.id,))[exercise.id]
    # From torch 2.15 on, the message about a product begins with the name of its operator.
    now = repr(report).replace("addmm: mat1", "mat1")
    assert now == stored, "the report has changed: run `python -m press notebooks --all`"


@by_id
def test_exercise_notebook_holds_no_trace_of_the_solution(sheet: ExerciseSheet, exercise: Exercise) -> None:
    path = ROOT / "exercises" / f"{sheet.chapter}.ipynb"
    text = path.read_text(encoding="utf-8")
    handed_out = [*sheet.opening, *(cell for other in sheet.exercises for cell in other.stub)]
    prose = "\n".join(text for other in sheet.exercises for text in (other.task, *other.hints, other.what_if))
    questions = as_markdown(sheet.questions, lambda question: question.read)
    given = "\n".join([prose, html.unescape(questions), *(cell.source for cell in handed_out)])
    own = {line.strip() for cell in exercise.solution for line in cell.source.splitlines()}
    secret = [line for line in own if len(line) > 12 and line not in given]
    assert secret, "the solution has no line of its own"
    for line in [*secret, *(part for part in exercise.why.splitlines() if part)]:
        assert json.dumps(line, ensure_ascii=False)[1:-1] not in text


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.chapter)
def test_each_chapter_has_exercises_of_rising_difficulty(sheet: ExerciseSheet) -> None:
    assert len(sheet.exercises) >= LEAST_PER_CHAPTER
    difficulties = [exercise.difficulty for exercise in sheet.exercises]
    assert difficulties == sorted(difficulties)


def test_exercises_and_checks_are_the_same_set() -> None:
    checked = sorted(exercise.id for exercise in all_exercises())
    assert checked == sorted(exercise.id for _, exercise in EXERCISES)
    # Exercises are offered in the order of the book.
    assert list(json.loads((ROOT / INDEX).read_text(encoding="utf-8"))) == [exercise.id for _, exercise in EXERCISES]


def test_sections_named_in_reports_exist() -> None:
    sections = json.loads((ROOT / SECTIONS).read_text(encoding="utf-8"))
    named = [about.read.split("#") for about in catalogue().values()]
    for path in sorted((ROOT / "fxbook").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'f"\{[A-Z_]+\}#', text), (
            f"{path.name}: write the whole place as one string, so that this test sees it"
        )
        named += re.findall(r'"([0-9P]\d_\w+)#([^"]*)"', text)
    assert len(named) > 3 * len(EXERCISES)
    assert [f"{chapter}#{anchor}" for chapter, anchor in named if anchor not in sections[chapter]] == []


@pytest.mark.parametrize(("use", "is_drawn"), [("compute", True), ("edit", False)])
def test_case_order_is_random_for_data_answers(use: str, is_drawn: bool) -> None:
    exercise = an_exercise("99-x", use, (SHALLOW, DEEP, SHALLOW), ())
    orders = [drawn_order(exercise, seed) for seed in range(100)]
    assert orders == [drawn_order(exercise, seed) for seed in range(100)]
    assert all(sorted(order) == [0, 1, 2] for order in orders)
    assert all(len({order[place] for order in orders}) == (3 if is_drawn else 1) for place in range(3))


def test_nodes_are_found_in_another_order_than_that_of_the_list() -> None:
    """An answer that needs the order of the list must ask for it."""
    usage = an_exercise("99-x", "edit", (SHALLOW, DEEP), ()).usage
    [module] = usage.arguments(DEEP, DEEP.build())
    found = module.graph.find_nodes(op="call_module", sort=False)
    assert len(found) > 1
    assert found[::-1] == module.graph.find_nodes(op="call_module")
    assert not record(module).stale
