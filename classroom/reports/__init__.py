"""Write a report for each student, and one for the teacher on what to teach again, from marks alone.

``overview`` counts, ``ideas`` groups mistakes, ``similarity`` finds similar answers, ``figures`` and ``charts`` draw,
``pages`` fills in the templates, and ``wording`` makes untrusted text printable. The pages load nothing and run no
script.
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

    Files are replaced atomically, and only if they change. Students without marks get no report.

    Args:
        folder: the folder of marks; created if missing.
        book: the address of the rendered book to link to, which may be a path relative to ``class.html``; ``""`` for no
            links.

    Returns:
        The summary for the terminal, as from :func:`summary`.

    Raises:
        ValueError: the book's address is invalid, or a key is not a safe file name.
        OSError: the folder cannot be written.
    """
    book = checked_address(book)
    results = overview(assignment, marks)
    for student in results.students:
        if not _is_safe(student.key):
            raise ValueError(f"{student.key!r} cannot be the name of a student's folder")
    figures = Figures()
    # Render the class page first so that its few figures are drawn within the budget; write it last, because it links
    # to the other files.
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
    """A short text for the terminal: how the class did, and what to teach again first."""
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
            f"  {at}. {place(section.what)}: {count(section.students, 'student')}",
            f"     {idea.exercise.id}, {count(len(idea.marks), 'time')}: {idea.message[:200]}",
        ]
    looks = {
        "exercises that nobody passes": len(results.nobody),
        "stuck": len(results.stuck),
        "having trouble with Python": len(
            {mark.key for trouble in results.troubles for idea in trouble.ideas for mark in idea.marks}
        ),
        "handed in nothing": sum(student.silent for student in results.students),
        "files that cannot be read": len(results.unreadable),
        "possibly late": len({student.key for student, _, _ in results.late_to_look_at}),
        "sheets with answers that were not found": len(results.not_found),
        "students with answers under another name": len(results.renamed),
        "pairs with similar answers": len(results.pairs),
        "answers not graded, because the grader failed": sum(
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
