"""Write the files that a teacher uploads: the class totals, and the grade files for the learning management systems."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from classroom.assignment import Assignment
from classroom.collect.names import shown
from classroom.exports import ExportError
from classroom.exports import totals as totals_of
from classroom.exports.canvas import Gradebook
from classroom.exports.moodle import Filled, Worksheet, feedback
from classroom.grade import private
from classroom.grade.records import Mark, Participant

FEEDBACK = "feedback.zip"
_TOLD = 20


@dataclasses.dataclass(frozen=True)
class Systems:
    moodle: tuple[Path, Worksheet] | None = None
    canvas: tuple[Path, Gradebook] | None = None


def deliver(
    folder: Path,
    assignment: Assignment,
    people: Sequence[Participant],
    marks: Sequence[Mark],
    systems: Systems = Systems(),
) -> list[str]:
    """Write the totals, and the files to upload into ``moodle`` and ``canvas`` below the folder.

    Returns:
        Sentences for the teacher.

    Raises:
        ExportError, classroom.grade.gradebook.GradebookError: something cannot be written.
    """
    sentences = [f"Totals: {totals_of.write(folder, assignment, people, marks)}."]
    totals = totals_of.totals(marks)
    points = {key: total.points for key, total in totals.items() if not total.ungraded}
    out_of = sum(assignment.points[about.id] for about in assignment.exercises)
    names = {person.key: shown(person.student) for person in people}
    failed = [names[key] for key, total in totals.items() if total.ungraded and key in names]
    if systems.moodle:
        path, worksheet = systems.moodle
        sentences += _written(folder / "moodle" / path.name, worksheet.filled(people, points, out_of), "Moodle", names)
        data, inside = feedback(people, _reports(folder, people))
        _write(folder / "moodle" / FEEDBACK, data)
        sentences.append(
            f"Reports for Moodle: {folder / 'moodle' / FEEDBACK}, {len(inside)} of {len(people)} students."
        )
    if systems.canvas:
        path, gradebook = systems.canvas
        sentences += _written(folder / "canvas" / path.name, gradebook.filled(people, points, out_of), "Canvas", names)
    if failed and systems != Systems():
        sentences.append(f"Without a grade, because the grader failed on an answer: {_listed(failed)}.")
    return sentences


def _reports(folder: Path, people: Sequence[Participant]) -> dict[str, Path]:
    paths = {person.key: folder / "students" / person.key / "report.html" for person in people}
    return {key: path for key, path in paths.items() if path.is_file()}


def _written(path: Path, filled: Filled, system: str, names: Mapping[str, str]) -> list[str]:
    _write(path, filled.data)
    scaled = f" {filled.scaled}." if filled.scaled else ""
    sentences = [f"Grades for {system}: {path}, {filled.count} of {len(names)} students.{scaled}"]
    if filled.others:
        listed = _listed([f"{names[key]} ({why})" for key, why in filled.others.items()])
        sentences.append(f"Not filled in: {listed}.")
    return sentences


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _TOLD} more" if len(texts) > _TOLD else ""
    return ", ".join(texts[:_TOLD]) + more


def _write(path: Path, data: bytes) -> None:
    try:
        private.make_folder(path.parent)
        private.close_folder(path.parent)
        private.write(path, data)
    except OSError as error:
        raise ExportError(
            f"{path} cannot be written ({error.strerror or error}): close it in other programs."
        ) from error
