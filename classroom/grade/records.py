"""The data that parts of the grader exchange, with conversion to and from JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, get_args

JSON = Any
Status = Literal["passed", "public", "failed", "missing", "unreadable", "error"]
"""The result of one exercise for one student.

``"passed"``: the public checks and all hidden variants pass. ``"public"``: the public checks pass, but a hidden variant
fails. ``"failed"``: a public check fails, or the answer raises an error, never finishes or was stopped. ``"missing"``:
nothing or only the unchanged stub was handed in. ``"unreadable"``: the file cannot be read. ``"error"``: the grader
itself failed, so the exercise is graded again on the next run.
"""

UNSEEN = "The public checks pass; something fails on a model or on inputs that you have not seen."
"""The only message about a hidden variant: an answer could choose any other message and so leak the variant."""


@dataclasses.dataclass(frozen=True)
class Version:
    """One version of a chapter's sheet.

    Args:
        name: the printable name of its file.
        path: the printable path among the student's files.
        problem: why it cannot be used, for the student; ``""`` if it can.
        rank: higher for later versions; versions with equal ranks cannot be ordered by time.
        number: its position among all versions, from 1.
        late_days: days late, counting part of a day as one, as recorded by a learning system.
        late_note: a note on lateness for the teacher.
    """

    name: str
    data: bytes
    path: str = ""
    problem: str = ""
    rank: int = 0
    number: int = 1
    late_days: int = 0
    late_note: str = ""


@dataclasses.dataclass(frozen=True)
class Submission:
    """One student's files, with a selected version of each sheet: at first the last one.

    Args:
        key: unique in the class, and a valid file name.
        student: the name from the folder's name; untrusted text.
        sheets: the bytes of the selected version by chapter; read only within limits.
        names: the name of that file by chapter.
        attempts: the number of distinct versions by chapter.
        problems: by chapter, why the selected version cannot be used.
        versions: by chapter, the versions that may count, oldest first.
        number: the learning system's number for the student, or ``""``.
        folder: the name that the learning system gave the entry at the top, or ``""``.
    """

    key: str
    student: str
    sheets: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)
    attempts: Mapping[str, int] = dataclasses.field(default_factory=dict)
    problems: Mapping[str, str] = dataclasses.field(default_factory=dict)
    versions: Mapping[str, tuple[Version, ...]] = dataclasses.field(default_factory=dict)
    number: str = ""
    folder: str = ""

    def with_version(self, chapter: str, version: Version) -> Submission:
        others = {name: {k: v for k, v in getattr(self, name).items() if k != chapter} for name in _IN_HAND}
        if version.problem:
            others["problems"][chapter] = version.problem
        else:
            others["sheets"][chapter], others["names"][chapter] = version.data, version.name
        return dataclasses.replace(self, **others)


_IN_HAND = ("sheets", "names", "problems")


@dataclasses.dataclass(frozen=True)
class Participant:
    """A student in the gradebook: the fields of :class:`Submission` without the files."""

    key: str
    student: str
    number: str = ""
    folder: str = ""


@dataclasses.dataclass(frozen=True)
class Mark:
    """The mark for one student and exercise: a row of ``grades.csv`` and a section of the reports.

    Args:
        key, student: as in :class:`Submission`.
        exercise: ``"02-put-in-order"``.
        status: see :data:`Status`.
        points, out_of: the points, and their maximum.
        attempts: the number of distinct versions of the sheet.
        version: which version counted, and why.
        rule: the violated property, such as ``"lints"``, or ``""``. For a hidden variant, only the teacher sees it,
            because an answer could choose which property it violates and so reveal the variant.
        message: one sentence for the student; always the same for a hidden variant.
        for_teacher: the full message, with the name of the hidden variant, if the student sees less.
        node: the name of the violating node.
        read: the section to read, ``"chapter#anchor"``; for a hidden variant, only the teacher sees it.
        line: the line of student code that raised an error.
        graph: the student's graph at that point, a :class:`fxbook.graph.record.GraphRecord` in JSON.
        unproven: what the grader could not recompute, so an answer might have forged it.
        remark: a note for the teacher on how the answer was found, or why none was.
        source: the student's code, for the teacher to read; cut if long.
        plain: the same code normalised by :mod:`classroom.collect.normalise`, for comparison.
        seconds: the wall-clock time of grading.
        late_days: days late, counting part of a day as one.
        penalty: the points lost through lateness, already subtracted from ``points``.
        late_note: a note for the teacher on the evidence for lateness.
    """

    key: str
    student: str
    exercise: str
    status: Status
    points: float = 0.0
    out_of: float = 0.0
    attempts: int = 0
    rule: str = ""
    message: str = ""
    for_teacher: str = ""
    node: str = ""
    read: str = ""
    line: str = ""
    graph: JSON = None
    unproven: tuple[str, ...] = ()
    remark: str = ""
    source: str = ""
    plain: str = ""
    seconds: float = 0.0
    version: str = ""
    late_days: int = 0
    penalty: float = 0.0
    late_note: str = ""

    def to_json(self) -> JSON:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: JSON) -> Mark:
        """The inverse of :meth:`to_json`.

        Raises:
            TypeError, KeyError, ValueError: the data does not describe a mark.
        """
        if data["status"] not in get_args(Status):
            raise ValueError(f"{data['status']!r} is not a status")
        return cls(**{**data, "unproven": tuple(data["unproven"])})
