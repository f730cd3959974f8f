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

UNSEEN = "The public checks pass; something does not hold on a model or on inputs that you have not seen."
"""All that a student is told of a hidden variant: whatever else there is to tell, the answer itself could choose."""


@dataclasses.dataclass(frozen=True)
class Version:
    """One version of the sheet of a chapter.

    Args:
        name: of its file, fit to be shown.
        data: its bytes.
        path: of its file among those of the student, fit to be shown.
        problem: why it cannot be used, for the student; ``""`` where it can.
        rank: later versions have a higher one; nobody can tell apart in time those that have the same.
        number: which it is of all that were handed in, the first being 1.
        late_days: begun days after it was due, as far as a learning system tells.
        late_note: what the teacher should look at.
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
    """What one student handed in, as found in the folder, with one version of each sheet in hand: at first the last.

    Args:
        key: safe to be a file name, and unique in the class.
        student: the name as the folder tells it; text that nobody has looked at.
        sheets: of each chapter the version in hand, as its bytes; read only within limits.
        names: of each chapter the name of that file.
        attempts: of each chapter how many different versions are there.
        problems: of each chapter why what is in hand cannot be used.
        versions: of each chapter the versions that may count, the oldest first.
        number: that by which the learning system knows the student, ``""`` where it gave none.
        folder: the name that the learning system gave what lies at the top, ``""`` where it gave none.
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
        """The same with this version of the sheet of a chapter in hand."""
        others = {name: {k: v for k, v in getattr(self, name).items() if k != chapter} for name in _IN_HAND}
        if version.problem:
            others["problems"][chapter] = version.problem
        else:
            others["sheets"][chapter], others["names"][chapter] = version.data, version.name
        return dataclasses.replace(self, **others)


_IN_HAND = ("sheets", "names", "problems")


@dataclasses.dataclass(frozen=True)
class Participant:
    """A student of the class as the gradebook keeps them: as in :class:`Submission`, without what was handed in."""

    key: str
    student: str
    number: str = ""
    folder: str = ""


@dataclasses.dataclass(frozen=True)
class Mark:
    """One student, one exercise: a row of ``grades.csv`` and a section of the reports.

    Args:
        key, student: as in :class:`Submission`.
        exercise: ``"02-put-in-order"``.
        status: see :data:`Status`.
        points, out_of: what it gives, and what it is worth.
        attempts: different versions of the sheet that are there.
        version: which of them counted, and why.
        rule: the property that is violated, ``"lints"``; ``""`` where none is. Which one does not hold on a hidden
            variant an answer can choose, and so tell of the variant: the teacher's alone.
        message: one sentence for the student; on a hidden variant always the same.
        for_teacher: what it says in full, the hidden variant's name included, where the student is told less.
        node: the name of the node that violates it.
        read: ``"chapter#anchor"`` to read; where a hidden variant does not hold, the teacher's alone.
        line: the line of the student's code that raised.
        graph: the student's graph there, as :class:`fxbook.graph.record.GraphRecord` in JSON.
        unproven: what the grader could not compute again by itself, so that an answer might forge it.
        remark: what a teacher should see with their own eyes: how an answer was found, or why none was.
        source: what the student wrote for it, for the teacher, cut where it is long.
        plain: the same as :mod:`classroom.collect.normalise` gives it, to be compared with others'.
        seconds: wall-clock time that grading took.
        late_days: begun days after it was due.
        penalty: the points that lateness took; ``points`` are what is left.
        late_note: what the teacher should look at before lateness is believed.
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
