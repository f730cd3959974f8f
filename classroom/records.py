"""What passes between the parts of the grader: plain data, written as JSON and read back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, get_args

JSON = Any
Status = Literal["passed", "public", "failed", "missing", "unreadable", "error"]
"""What came of one exercise of one student.

``"passed"``: the public checks and every hidden variant hold. ``"public"``: the public checks hold, a hidden variant
does not. ``"failed"``: a public check does not hold, or the answer raises, never ends or was stopped. ``"missing"``:
nothing was handed in for it, or the stub as it was handed out. ``"unreadable"``: what was handed in cannot be read.
``"error"``: the grader itself failed, which costs the student nothing: it is graded again on the next run.
"""


@dataclasses.dataclass(frozen=True)
class Submission:
    """What one student handed in, as found in the folder.

    Args:
        key: safe to be a file name, and unique in the class.
        student: the name as the folder tells it; text that nobody has looked at.
        sheets: of each chapter the file that counts, the one handed in last, as its bytes; read only within limits.
        names: of each chapter the name of that file.
        attempts: of each chapter how many versions were handed in.
        problems: of each chapter why what was handed in cannot be used.
    """

    key: str
    student: str
    sheets: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)
    attempts: Mapping[str, int] = dataclasses.field(default_factory=dict)
    problems: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Mark:
    """One student, one exercise: a row of ``grades.csv`` and a section of the reports.

    Args:
        key, student: as in :class:`Submission`.
        exercise: ``"02-put-in-order"``.
        status: see :data:`Status`.
        points, out_of: what it is worth.
        attempts: versions of the sheet that were handed in.
        rule: the property that is violated, ``"lints"``; ``""`` where none is.
        message: one sentence for the student; on a hidden variant it tells nothing of the variant.
        for_teacher: what it says in full, the hidden variant's name included, where the student is told less.
        node: the name of the node that violates it.
        read: ``"chapter#anchor"`` to read.
        line: the line of the student's code that raised.
        graph: the student's graph there, as :class:`fxbook.record.GraphRecord` in JSON.
        unproven: what the grader could not compute again by itself, so that an answer might forge it.
        seconds: wall-clock time that grading took.
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
    seconds: float = 0.0

    def to_json(self) -> JSON:
        """A plain dict, for :meth:`from_json`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: JSON) -> Mark:
        """The mark that :meth:`to_json` described.

        Raises:
            TypeError, KeyError, ValueError: the data is not such a description.
        """
        if data["status"] not in get_args(Status):
            raise ValueError(f"{data['status']!r} is no status")
        return cls(**{**data, "unproven": tuple(data["unproven"])})
