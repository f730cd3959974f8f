"""Fill in one assignment's column of an exported Canvas gradebook, ready for import."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from classroom.exports import ExportError
from classroom.exports.cells import Cells, column, written
from classroom.exports.matching import Row, match
from classroom.exports.moodle import Filled
from classroom.grade.records import Participant

SYSTEM = "Canvas"
_ABOUT_STUDENTS = {
    "student", "lastname", "firstname", "id", "sis user id", "sis login id", "integration id", "root account", "section"
}  # fmt: skip
_COMPUTED = re.compile(r"(current|final|override) (score|points|grade|status)", re.IGNORECASE)
# Canvas's words for "excused" and "not assigned to this student".
_LEFT = {"ex", "n/a"}


class Gradebook:
    """A gradebook exported from Canvas.

    Args:
        title: the assignment on Canvas, with or without its number: ``Week 2 (12345)``.

    Raises:
        ExportError: it cannot be read, or has no such assignment.
    """

    def __init__(self, path: Path, title: str) -> None:
        self._cells = Cells(path)
        header = self._cells.row(0) if len(self._cells) else []
        self._id = column(header, "ID")
        if self._id is None or column(header, "Section") is None:
            raise ExportError(f"{path} is not a Canvas gradebook: choose *Export* on Canvas's page *Grades*.")
        last, first = column(header, "LastName"), column(header, "FirstName")
        self._names = [column(header, "Student")] if last is None or first is None else [last, first]
        self._column = _assignment(path, header, title)
        self._most = ""
        self.rows = []
        for at in range(1, len(self._cells)):
            cells = self._cells.row(at)
            if len(cells) <= max(self._id, self._column):
                continue
            if "Points Possible" in cells[0]:
                self._most = cells[self._column].strip()
            elif (number := cells[self._id].strip()).isdigit():
                name = ", ".join(cells[place] for place in self._names if place is not None)
                self.rows.append(Row(at, number, name))

    def filled(self, people: Sequence[Participant], points: Mapping[str, float], out_of: float) -> Filled:
        """Fill in the points on Canvas's scale; every other cell is unchanged.

        Args:
            points: by student key; the cell of a student without points is unchanged.
            out_of: the assignment's maximum number of points, on the scale of ``points``.
        """
        matched = match(people, self.rows, SYSTEM)
        others, count = dict(matched.others), 0
        try:
            most = float(self._most.replace(",", "."))
        except ValueError:
            most = 0.0
        scale = most / out_of if most and out_of else 1.0
        for key, row in matched.rows.items():
            if key not in points:
                continue
            there = self._cells.row(row.at)[self._column].strip()
            if there.casefold() in _LEFT:
                others[key] = f"Canvas has {there} in this cell"
                continue
            self._cells.fill(row.at, self._column, written(points[key] * scale))
            count += 1
        scaled = f"{written(out_of)} points here are {self._most} on Canvas" if scale != 1 else ""
        return Filled(self._cells.data(), count, others, scaled)


def _assignment(path: Path, header: Sequence[str], title: str) -> int:
    columns = [
        (at, name.strip())
        for at, name in enumerate(header)
        if name.strip() and name.strip().casefold() not in _ABOUT_STUDENTS and not _COMPUTED.search(name)
    ]
    plain_title = title.strip().casefold()
    bare = [at for at, name in columns if re.sub(r" \(\d+\)$", "", name).casefold() == plain_title]
    places = [at for at, name in columns if name.casefold() == plain_title] or bare
    if len(places) != 1:
        listed = ", ".join(f"“{name}”" for _, name in columns[:12]) or "none"
        which = "has no assignment" if not places else f"has {len(places)} assignments"
        raise ExportError(f"{path} {which} “{title}”: name one with --canvas-column. It has {listed}.")
    return places[0]
