"""Due dates, lateness and its cost. Only times that a learning system recorded are evidence.

Students can change the time and the name of a file, so a file's time never costs points. If it is after the due date
and nothing else is known, the teacher gets a note.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
import zoneinfo
from collections.abc import Mapping
from typing import Any

_DAY = dt.timedelta(days=1)


class LateError(Exception):
    """An unusable due date, rule or extension; the message says what to write."""


@dataclasses.dataclass(frozen=True)
class Rule:
    """The cost of lateness.

    Args:
        per_day: the share of the points, 0 to 1, that each day or part of a day costs.
        at_most: the largest share that ``per_day`` can cost.
        grace_minutes: a submission within this time is not late; a later one counts as late from the due date on.
        after_days_nothing: a submission that is more days late earns no points; ``None`` for no such limit.
    """

    per_day: float = 0.0
    at_most: float = 1.0
    grace_minutes: float = 0.0
    after_days_nothing: int | None = None

    @property
    def costs(self) -> bool:
        return self.per_day > 0 or self.after_days_nothing is not None

    def share(self, days: int) -> float:
        if days and self.after_days_nothing is not None and days > self.after_days_nothing:
            return 1.0
        return min(self.at_most, self.per_day * days)

    def in_words(self) -> str:
        """The rule in one to three sentences for students, or ``""`` if lateness costs nothing."""
        sentences = []
        if self.per_day:
            sentences.append(f"Each day or part of a day costs {_percent(self.per_day)} of the points")
            sentences[-1] += f", {_percent(self.at_most)} at most." if self.at_most < 1 else "."
        if self.after_days_nothing is not None:
            sentences.append(f"A submission that is more than {_days(self.after_days_nothing)} late earns none.")
        if sentences and self.grace_minutes:
            sentences.append(f"The first {self.grace_minutes:g} minutes cost nothing.")
        return " ".join(sentences)


@dataclasses.dataclass(frozen=True)
class Receipt:
    """A learning system's record of when something was handed in; ``None`` stands for anything it does not record.

    Args:
        moment: the time of submission, with its time zone.
        late: whether it was late by the system's own due date.
        by: how late it was by the system's own due date.
        until: the extension granted in the system.
    """

    moment: dt.datetime | None = None
    late: bool | None = None
    by: dt.timedelta | None = None
    until: dt.datetime | None = None


@dataclasses.dataclass(frozen=True)
class Lateness:
    """The number of days by which a version is late, and a note for the teacher.

    Part of a day counts as a whole day; the number is 0 if it is unknown.
    """

    days: int = 0
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Deadline:
    """The due date, extensions and the cost of lateness.

    Args:
        due: the due time, with its time zone, or ``None``.
        extensions: a later date or additional time for each student, under the name that the teacher uses.
        zone: the time zone for times that state none; ``""`` for this computer's time zone.
    """

    due: dt.datetime | None = None
    extensions: Mapping[str, dt.datetime | dt.timedelta] = dataclasses.field(default_factory=dict)
    rule: Rule = dataclasses.field(default_factory=Rule)
    zone: str = ""

    def due_for(self, names: frozenset[str]) -> tuple[dt.datetime | None, bool]:
        """The latest due date granted to a student with these names, and whether the student has an extension."""
        granted = [value for name, value in self.extensions.items() if plain(name) in names]
        dates = [grant for grant in granted if isinstance(grant, dt.datetime)]
        if self.due:
            dates += [self.due, *(self.due + grant for grant in granted if isinstance(grant, dt.timedelta))]
        return max(dates, default=None), bool(granted)

    def lateness(self, receipt: Receipt, saved: float, names: frozenset[str]) -> Lateness:
        """How late a version is.

        Args:
            receipt: the learning system's record.
            saved: when the file was saved, in seconds since 1970, or 0 if unknown; not evidence.
            names: every name by which the teacher may refer to the student, as :func:`plain` returns them.
        """
        due, extended = self.due_for(names)
        due = max(filter(None, (due, receipt.until)), default=None)
        if receipt.moment and due:
            return Lateness(_begun_days(receipt.moment - due, self.rule.grace_minutes))
        if receipt.by is not None:
            return Lateness(_begun_days(receipt.by, self.rule.grace_minutes))
        if receipt.late is not None:
            return self._by_flag(receipt.late, extended)
        if due and self.rule.costs and saved:
            late = dt.datetime.fromtimestamp(saved, dt.UTC) - due
            if days := _begun_days(late, self.rule.grace_minutes):
                return Lateness(0, _SAVED_LATE.format(_days(days)))
        return Lateness()

    def _by_flag(self, late: bool, extended: bool) -> Lateness:
        """Lateness when the system reports only whether a submission was late: assume the minimum that is certain."""
        if not late:
            return Lateness()
        note = ""
        if extended:
            return Lateness(0, _LATE_EXTENDED)
        if self.rule.grace_minutes:
            return Lateness(0, _LATE_GRACE)
        if self.rule.costs:
            note = _LATE_ONE_DAY
        return Lateness(1, note)


_SAVED_LATE = (
    "Its file was saved {} after it was due. That proves nothing, and there is no record of when it was handed in: "
    "no points are deducted."
)
_LATE_EXTENDED = "The learning system marks it as late, but this student has an extension: no points are deducted."
_LATE_GRACE = (
    "The learning system marks it as late without saying by how much. It may be within the grace period: no "
    "points are deducted."
)
_LATE_ONE_DAY = "The learning system marks it as late without saying by how much: it counts as one day."


def _begun_days(late: dt.timedelta, grace_minutes: float) -> int:
    if late <= dt.timedelta(minutes=grace_minutes):
        return 0
    return max(1, math.ceil(late / _DAY))


def plain(name: str) -> str:
    """Normalise a student's name for comparison with the extensions."""
    return " ".join(str(name).split()).casefold()


def _days(many: int) -> str:
    return "1 day" if many == 1 else f"{many} days"


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


# ---- reading the assignment file -------------------------------------------------------------------------------------


def deadline(written: Mapping[str, Any]) -> Deadline:
    """Build the deadline from ``due``, ``[late]``, ``[extensions]`` and ``time_zone`` of an assignment file.

    Raises:
        LateError: one of them cannot be used.
    """
    zone = str(written.get("time_zone", ""))
    try:
        zone and zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise LateError(f'time_zone = "{zone}" is not known; write it as "Europe/Berlin", or leave it out.') from None
    due = _moment("due", written["due"], zone) if "due" in written else None
    extensions = {name: _extension(name, value, zone) for name, value in written.get("extensions", {}).items()}
    if due is None and any(isinstance(extension, dt.timedelta) for extension in extensions.values()):
        raise LateError("[extensions] gives days, but there is no due date: add due = 2026-11-20T23:59:00.")
    return Deadline(due, extensions, _rule(written.get("late", {})), zone)


def local(moment: dt.datetime, zone: str) -> dt.datetime:
    """Add a time zone to a time without one: ``zone``, or this computer's."""
    if moment.tzinfo:
        return moment
    return moment.replace(tzinfo=zoneinfo.ZoneInfo(zone)) if zone else moment.astimezone()


def _moment(what: str, value: Any, zone: str) -> dt.datetime:
    if isinstance(value, dt.datetime):
        return local(value, zone)
    if isinstance(value, dt.date):
        # A date without a time means the end of that day.
        return local(dt.datetime.combine(value, dt.time(23, 59, 59)), zone)
    raise LateError(f"{what} = {value!r} is not a date: write 2026-11-20T23:59:00 or 2026-11-20, without quotes.")


def _extension(name: str, value: Any, zone: str) -> dt.datetime | dt.timedelta:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not 0 <= value <= 3650:
            raise LateError(f"[extensions] {name} = {value!r}: give a number of days that is not negative, or a date.")
        return dt.timedelta(days=value)
    return _moment(f"[extensions] {name}", value, zone)


def _rule(written: Mapping[str, Any]) -> Rule:
    known = {field.name for field in dataclasses.fields(Rule)}
    for key, value in written.items():
        if key not in known:
            raise LateError(f"[late] {key!r} is not a known key; give one of {', '.join(sorted(known))}.")
        whole = key == "after_days_nothing"
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not 0 <= value < math.inf:
            raise LateError(f"[late] {key} = {value!r}: give a {'whole ' if whole else ''}number that is not negative.")
        if key in ("per_day", "at_most") and value > 1:
            raise LateError(f"[late] {key} = {value!r}: give a share from 0 to 1, such as 0.1 for a tenth.")
    rule = Rule(**written)
    if written and not rule.costs:
        raise LateError("[late] deducts nothing: add per_day = 0.1 or after_days_nothing = 7, or remove [late].")
    return rule
