"""Read and fill in Moodle's grading worksheet, and build the zip of feedback files.

Moodle offers both if *Offline grading worksheet* and *Feedback files* are switched on in the assignment's settings. In
an uploaded worksheet, Moodle finds the columns by their names, which are in the language of the download.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from classroom.collect import names
from classroom.collect.lateness import Receipt, local
from classroom.exports import ExportError
from classroom.exports.cells import Cells, column, written
from classroom.exports.matching import Row, match
from classroom.grade.records import Participant

SYSTEM = "Moodle"
_DATE = re.compile(
    r"(?:(?P<day>\d{1,2})(?:st|nd|rd|th)? (?P<month>[a-z]{3,9})|(?P<month_first>[a-z]{3,9}) (?P<day_second>\d{1,2}))"
    r",? (?P<year>\d{4}),? (?P<hour>\d{1,2}):(?P<minute>\d\d)(?: ?(?P<half>[AP]M))?",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LATE = re.compile(r"((?:\d+ (?:year|week|day|hour|min|sec)\w* ?)+) late\b", re.IGNORECASE)
_UNITS = {"year": 365 * 86400, "week": 7 * 86400, "day": 86400, "hour": 3600, "min": 60, "sec": 1}
_EXTENSION = re.compile(r"extension granted until:?(.*)", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Filled:
    """The filled-in file, the number of grades, and why other students get none; ``scaled``: how points were scaled."""

    data: bytes
    count: int
    others: Mapping[str, str]
    scaled: str = ""


class Worksheet:
    """A grading worksheet downloaded from Moodle.

    Args:
        zone: the time zone of the teacher's Moodle profile, or ``""`` for this computer's.

    Raises:
        ExportError: it cannot be read, or lacks a required column.
    """

    def __init__(self, path: Path, zone: str = "") -> None:
        self._cells = Cells(path)
        self._zone = zone
        header = self._cells.row(0) if len(self._cells) else []
        self._identifier, self._grade = column(header, "Identifier"), column(header, "Grade")
        if self._identifier is None or self._grade is None:
            raise ExportError(
                f"{path} is not a grading worksheet: it lacks the columns Identifier and Grade. Set Moodle to English, "
                "switch on the offline grading worksheet in the assignment's settings, and choose Download grading "
                "worksheet."
            )
        if column(header, "Scale") is not None:
            raise ExportError(f"{path} grades on a scale: give the assignment on Moodle a maximum number of points.")
        self._name = column(header, "Full name")
        self._most = column(header, "Maximum Grade")
        self._open = column(header, "Grade can be changed")
        self._status = column(header, "Status")
        self._handed_in = column(header, "Last modified (submission)")
        self.rows = [
            Row(at, number[0], self._cell(at, self._name))
            for at in range(1, len(self._cells))
            if (number := re.findall(r"\d+$", self._cell(at, self._identifier).strip()))
        ]
        if not self.rows:
            raise ExportError(f"{path} contains no students: download the grading worksheet again.")

    def _cell(self, at: int, place: int | None) -> str:
        row = self._cells.row(at)
        return row[place] if place is not None and place < len(row) else ""

    def receipts_of(self, people: Sequence[Participant]) -> Mapping[str, Receipt]:
        """Moodle's records of submission times by student key; students without a row are left out."""
        return {key: self._receipt(row.at) for key, row in match(people, self.rows, SYSTEM).rows.items()}

    def _receipt(self, at: int) -> Receipt:
        status = self._cell(at, self._status)
        extension, late = _EXTENSION.search(status), _LATE.search(status)
        return Receipt(
            moment=self._moment(self._cell(at, self._handed_in)),
            by=_duration(late[1]) if late else None,
            until=self._moment(extension[1]) if extension else None,
        )

    def _moment(self, text: str) -> dt.datetime | None:
        timestamp = moment(text)
        return local(timestamp, self._zone) if timestamp else None

    def filled(self, people: Sequence[Participant], points: Mapping[str, float], out_of: float) -> Filled:
        """Fill in the grades on Moodle's scale; every other cell is unchanged.

        Args:
            points: by student key; students without points get no grade.
            out_of: the assignment's maximum number of points, on the scale of ``points``.
        """
        matched = match(people, self.rows, SYSTEM)
        others, scaled, count = dict(matched.others), "", 0
        for key, row in matched.rows.items():
            if key not in points:
                continue
            if self._cell(row.at, self._open).strip().casefold() == "no":
                others[key] = "Moodle says that the grade cannot be changed"
                continue
            most = self._cell(row.at, self._most).strip()
            scale = _number(most) / out_of if _number(most) and out_of else 1.0
            if scale != 1:
                scaled = f"{written(out_of)} points here are {most} on Moodle"
            comma = "," in most and "." not in most
            grade = f"{points[key] * scale:.2f}"
            self._cells.fill(row.at, self._grade, grade.replace(".", ",") if comma else grade)
            count += 1
        return Filled(self._cells.data(), count, others, scaled)


def moment(text: str) -> dt.datetime | None:
    """Parse Moodle's English times, such as ``Wednesday, 10 June 2026, 2:14 PM``; return ``None`` for other text."""
    date = _DATE.search(" ".join(text.split()))
    if not date:
        return None
    month = (date["month"] or date["month_first"])[:3].lower()
    hour, half = int(date["hour"]), (date["half"] or "").upper()
    if half:
        hour = hour % 12 + 12 * (half == "PM")
    try:
        day = int(date["day"] or date["day_second"])
        return dt.datetime(int(date["year"]), _MONTHS.index(month) + 1, day, hour, int(date["minute"]))
    except ValueError:
        return None


def _duration(text: str) -> dt.timedelta:
    parts = re.findall(r"(\d+) (year|week|day|hour|min|sec)", text, re.IGNORECASE)
    return dt.timedelta(seconds=min(sum(int(many) * _UNITS[unit.lower()] for many, unit in parts), 10**9))


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return 0.0


def feedback(people: Sequence[Participant], reports: Mapping[str, Path]) -> tuple[bytes, list[str]]:
    """Build the zip to upload as *multiple feedback files*; return it with the keys of the students in it.

    Args:
        people: the class; students whose folder or file Moodle did not name are left out.
        reports: the report of each student, by key.

    Raises:
        ExportError: a report cannot be read.
    """
    data = io.BytesIO()
    inside = []
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for person in people:
            if names.system(person.folder) != SYSTEM or person.key not in reports or not _is_text(person.folder):
                continue
            try:
                report = reports[person.key].read_bytes()
            except OSError as error:
                raise ExportError(f"{reports[person.key]} cannot be read ({error.strerror or error}).") from error
            archive.writestr(zipfile.ZipInfo(_feedback_name(person.folder)), report, zipfile.ZIP_DEFLATED)
            inside.append(person.key)
    return data.getvalue(), inside


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _feedback_name(top: str) -> str:
    """The path by which Moodle assigns a report to its student: in the student's folder, or with the prefix of the
    file.
    """
    if names.given(top, folder=True):
        return f"{top}/report.html"
    given = names.given(top, folder=False)
    return f"{top.removesuffix(given.rest) if given else top}report.html"
