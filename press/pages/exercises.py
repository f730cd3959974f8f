"""The pages *All exercises* and *What you have solved*: tables that the site's scripts complete."""

from __future__ import annotations

from press.book import Book
from press.manuscript.reading import anchor
from press.manuscript.sheet import ExerciseSheet
from press.manuscript.task import Exercise

_ALL = """\
# All exercises

{count} exercises, about {hours} hours. *Trains* leads to the section that the exercise practises, and difficulty goes
from 1 to 3. The page [What you have solved](solved.md) keeps your record.

<div class="fx-exercises">

| Exercise | Trains | Difficulty | Minutes | Chapter |
|---|---|---|---|---|
{rows}

</div>
"""
_SOLVED = """\
# What you have solved

Your browser remembers the pages that you have read and the exercises that you have ticked, each with its date, and
sends nothing. This page lists them, to print or to show to a teacher. To take the record to another browser, save it to
a file here and load the file there.

If you work in notebooks, `make watch` records the exercises that pass, in `exercises/.fxbook-progress.json`. Load that
file here, or run `python -m fxbook solved` to list them in a terminal. Without JavaScript, the list has all chapters
and [all exercises](exercises.md), to tick by hand.

<div class="fx-record">

| Chapter or exercise | Minutes | Done |
|---|---|---|
{rows}

</div>
"""


def all_exercises(book: Book) -> str:
    exercises = [exercise for sheet in book.sheets() for exercise in sheet.exercises]
    rows = [_row(book, sheet, exercise) for sheet in book.sheets() for exercise in sheet.exercises]
    hours = round(sum(exercise.minutes for exercise in exercises) / 60)
    return _ALL.format(count=len(exercises), hours=hours, rows="\n".join(rows))


def solved(book: Book) -> str:
    rows = []
    for sheet in book.sheets():
        title = next(iter(book.headings(sheet.chapter).values()))
        rows.append(f"| **[{title}](../{sheet.chapter}.ipynb)** | | |")
        rows += [f"| {_link(sheet, exercise)} | {exercise.minutes} | |" for exercise in sheet.exercises]
    return _SOLVED.format(rows="\n".join(rows))


def _row(book: Book, sheet: ExerciseSheet, exercise: Exercise) -> str:
    chapter, _, section = exercise.read.partition("#")
    trains = f"[{book.headings(chapter)[section]}](../{exercise.read.replace('#', '.ipynb#')})"
    number = f"[{sheet.chapter[:2]}](../{sheet.chapter}.ipynb)"
    return f"| {_link(sheet, exercise)} | {trains} | {exercise.difficulty} | {exercise.minutes} | {number} |"


def _link(sheet: ExerciseSheet, exercise: Exercise) -> str:
    place = f"../../exercises/{sheet.chapter}.ipynb#{anchor(exercise.title)}"
    return f"[{exercise.title}]({place}) `{exercise.id}`"
