"""Tell each student what came of their work, and the teacher what to teach again; all of it from marks.

``overview`` counts, ``ideas`` groups what went wrong, ``similarity`` finds what is alike, ``figures`` and ``charts``
draw, ``pages`` fills the templates, ``wording`` makes every text fit to be shown. What is written here loads nothing
and runs no script.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from classroom.assignment import Assignment
from classroom.grade import private
from classroom.grade.records import Mark
from classroom.reports.figures import Figures
from classroom.reports.overview import Overview, overview
from classroom.reports.pages import class_page, student_page
from classroom.reports.wording import checked_address, count, number, percent
from fxbook.grading import place

__all__ = ["summary", "write"]


def write(folder: Path, assignment: Assignment, marks: Sequence[Mark], *, book: str = "") -> str:
    """Write ``students/KEY/report.html`` for each student and ``class.html`` for the teacher into the folder.

    Each file is replaced in one step, and only where it changes. A student without any mark has no report.

    Args:
        folder: the folder of the marks; made where it is missing.
        assignment: what was asked.
        marks: those of the whole class.
        book: the address of the rendered book, so that the reports link to it; a folder as seen from ``class.html``;
            ``""`` for no links.

    Returns:
        The summary for the terminal, as :func:`summary`.

    Raises:
        ValueError: the address of the book is none, or a key is not safe to be a file name.
        OSError: the folder cannot be written.
    """
    book = checked_address(book)
    results = overview(assignment, marks)
    for student in results.students:
        if not _is_safe(student.key):
            raise ValueError(f"{student.key!r} cannot be the name of a student's folder")
    figures = Figures()
    # Its few figures come first; the file comes last, since it links to the others.
    from_student = f"../../{book}" if book.startswith(".") else book
    for_teacher = class_page(results, figures, book)
    for student in results.students:
        home = folder / "students" / student.key
        private.make_folder(home)
        private.close_folder(home)
        private.write(home / "report.html", student_page(assignment, student, figures, from_student).encode())
    private.make_folder(folder)
    if results.students:
        private.close_folder(folder / "students")
    private.write(folder / "class.html", for_teacher.encode())
    return _summary(results)


def summary(assignment: Assignment, marks: Sequence[Mark]) -> str:
    """A few lines for the terminal: how the class did and what to teach again first."""
    return _summary(overview(assignment, marks))


def _summary(results: Overview) -> str:
    if not results.students:
        return f"{results.assignment.title}: nothing was handed in."
    lines = [
        f"{results.assignment.title}: {count(len(results.students), 'student')}, "
        f"{count(len(results.questions), 'exercise')}; "
        f"public checks passed for {results.passed} of {results.graded} answers "
        f"({percent(results.passed, results.graded)}), "
        f"median {number(results.median)} of {number(results.total)} points."
    ]
    if results.sections:
        lines.append("Teach again first:")
    for at, section in enumerate(results.sections[:3], start=1):
        idea = section.ideas[0]
        lines += [
            f"  {at}. {place(section.read)}: {count(section.students, 'student')}",
            f"     {idea.exercise.id}, {count(len(idea.marks), 'time')}: {idea.message[:200]}",
        ]
    looks = {
        "exercises that nobody passes": len(results.nobody),
        "stuck": len(results.stuck),
        "in trouble with Python": len(
            {mark.key for trouble in results.troubles for idea in trouble.ideas for mark in idea.marks}
        ),
        "handed in nothing": sum(student.silent for student in results.students),
        "files that cannot be read": len(results.unreadable),
        "perhaps late": len({student.key for student, _, _ in results.late_to_look_at}),
        "sheets with answers that were not found": len(results.not_found),
        "students with answers under another name": len(results.renamed),
        "pairs with answers that are alike": len(results.pairs),
        "answers not graded, since the grader failed": sum(
            question.statuses["error"] for question in results.questions
        ),
    }
    if counts := [f"{what}: {many}" for what, many in looks.items() if many]:
        lines.append("To look at: " + "; ".join(counts) + ".")
    return "\n".join(lines)


def _is_safe(key: str) -> bool:
    try:
        key.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return key not in ("", ".", "..") and Path(key).name == key and "\0" not in key
