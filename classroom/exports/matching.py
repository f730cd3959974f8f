"""Match students to the rows of a learning system's table, by the system's number for a student or else by name."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

from classroom.collect import names
from classroom.grade.records import Participant


@dataclasses.dataclass(frozen=True)
class Row:
    at: int
    number: str
    name: str


@dataclasses.dataclass(frozen=True)
class Matched:
    """The rows by student key, and the reason for each student who has no row."""

    rows: Mapping[str, Row]
    others: Mapping[str, str]


def match(people: Sequence[Participant], rows: Sequence[Row], system: str) -> Matched:
    """Match each student to a row.

    If the student's number comes from this system, only the number decides. Otherwise the name does, as ``Anna Müller``
    or ``Müller, Anna``, if exactly one student and one row have it.

    Args:
        system: the table's system, as named in :attr:`classroom.collect.names.Given.system`.
    """
    numbers = Counter(row.number for row in rows if row.number)
    by_number = {row.number: row for row in rows if numbers[row.number] == 1}
    row_of: dict[str, Row] = {}
    reasons: dict[str, str] = {}
    by_name = []
    for person in people:
        if names.system(person.folder) == system:
            if person.number in by_number:
                row_of[person.key] = by_number[person.number]
            else:
                reasons[person.key] = (
                    f"number {person.number} has {'two rows' if person.number in numbers else 'no row'}"
                )
        else:
            by_name.append(person)
    taken = {row.at for row in row_of.values()}
    bearers = Counter(form for person in by_name for form in _forms(person.student))
    named: dict[str, dict[int, Row]] = {}
    for row in rows:
        for form in _forms(row.name) if row.at not in taken else ():
            named.setdefault(form, {})[row.at] = row
    for person in by_name:
        fitting = {at: row for form in _forms(person.student) for at, row in named.get(form, {}).items()}
        alone = all(bearers[form] == 1 for form in _forms(person.student))
        if len(fitting) == 1 and alone:
            [row_of[person.key]] = fitting.values()
        else:
            reasons[person.key] = "no row has this name" if not fitting else "others have the same name"
    return Matched(row_of, reasons)


def _forms(name: str) -> set[str]:
    plain = " ".join(unicodedata.normalize("NFC", name).casefold().split())
    last, comma, first = plain.partition(",")
    return {form for form in (plain, f"{first.strip()} {last.strip()}" if comma else plain) if form.strip()}
