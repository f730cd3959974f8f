"""Render a student's report and the class report. The templates escape all values."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from classroom.assignment import Assignment
from classroom.grade.records import Mark
from classroom.reports import charts, wording
from classroom.reports.figures import Figures, snippet
from classroom.reports.ideas import full_message
from classroom.reports.overview import Overview, Student
from fxbook.grading import place

_HERE = Path(__file__).parent
_FX_STYLE = _HERE.parent.parent / "fxbook" / "static" / "drawing.css"
# Long lists are cut to these lengths; the page says how many items there are.
TOP_SECTIONS, TOP_IDEAS, IDEAS_OF_EXERCISE, LISTED, NAMED = 5, 3, 12, 40, 6
_MOST_VERSIONS = 6


def student_page(assignment: Assignment, student: Student, figures: Figures, book: str = "") -> str:
    """The report for one student, without data about other students or hidden variants.

    Args:
        book: the address of the rendered book, or ``""`` for no links.
    """
    return (
        _environment()
        .get_template("student.html.jinja")
        .render(
            abouts={about.id: about for about in assignment.exercises},
            book=book,
            drawings=_Drawings(figures),
            hidden=bool(assignment.hidden),
            student=student,
            title=assignment.title,
            waiting=student.having("error"),
        )
    )


def class_page(results: Overview, figures: Figures, book: str = "") -> str:
    return (
        _environment()
        .get_template("class.html.jinja")
        .render(
            attempts=_attempts(results),
            book=book,
            drawings=_Drawings(figures),
            hidden=bool(results.assignment.hidden),
            by_key={student.key: student for student in results.students},
            listed=LISTED,
            most_ideas=IDEAS_OF_EXERCISE,
            named=NAMED,
            results=results,
            points=charts.spread([student.points for student in results.students if not student.silent], results.total),
            sections=results.sections[:TOP_SECTIONS],
            silent=[student for student in results.students if student.silent],
            title=results.assignment.title,
            top_ideas=TOP_IDEAS,
        )
    )


def _attempts(results: Overview) -> list[charts.Column]:
    bars = []
    for many in range(1, _MOST_VERSIONS + 1):
        own = [
            mark.status
            for student in results.students
            for mark in student.marks
            if mark.status in ("passed", "public", "failed") and min(mark.attempts, _MOST_VERSIONS) == many
        ]
        label = str(many) if many < _MOST_VERSIONS else f"{many} or more"
        bars.append(charts.Column(label, {status: own.count(status) for status in ("passed", "public", "failed")}))
    return bars


class _Drawings:
    """The figures of one page. A figure is shown once, because ids must be unique in a page."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures
        self.shown: set[Markup] = set()

    def __call__(self, mark: Mark, caption: str) -> Markup:
        drawn = self._figures.figure(mark, caption)
        if drawn in self.shown:
            return wording.NOTHING
        self.shown |= {drawn} if drawn else set()
        return drawn


def _address(student: Student) -> str:
    return f"students/{quote(student.key, safe='')}/report.html"


def _style() -> Markup:
    # These files belong to the project, so they need no escaping.
    return Markup("\n".join(path.read_text(encoding="utf-8") for path in (_HERE / "report.css", _FX_STYLE)))


def _legend() -> list[Markup]:
    from fxbook.drawing.display import LEGEND
    from fxbook.drawing.paint import swatch

    return [Markup("{}{}").format(Markup(swatch(op)), text) for op, text in LEGEND.items() if op != "group"]


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "address": _address,
        "found_name": wording.found_name,
        "full_message": full_message,
        "listing": wording.listing,
        "counted": wording.count,
        "number": wording.number,
        "property": wording.property_name,
        "marked_up": wording.marked_up,
        "shown": wording.shown,
        "snippet": snippet,
    }
    environment.filters.update(filters)
    environment.globals.update(
        SHORT=wording.SHORT,
        SIGNS=wording.SIGNS,
        columns=charts.columns,
        legend=_legend,
        link=wording.link,
        message=wording.message,
        patterns=charts.patterns,
        percent=wording.percent,
        place=place,
        stacked_bar=charts.stacked_bar,
        style=_style(),
        swatch=charts.swatch,
        verdict=wording.verdict,
    )
    return environment
