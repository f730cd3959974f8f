"""The record of what differs on each version of torch: ``book/reference/versions.yml``, written by the command.

An author may change the ``kind`` of an entry, and gives the ``fact`` that tells it or says ``because`` why none does.
The next run keeps that for a cell that shows the same, and for a version on which it shows something else as well where
all entries of the cell have the same fact.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from packaging.version import Version

from press import ROOT, stored

# The first line of a check's report: the exercise, its title, and whether it passed.
_REPORT = re.compile(r"(?P<exercise>[\w-]+) \(.*\): (?:(?P<passed>public checks passed)|not yet)\.")
# What two versions of torch can differ in, the least first. A cell that FOLLOWS fails only because an earlier one did.
WORDING, WARNING, BEHAVIOUR, FOLLOWS = KINDS = ("wording", "warning", "behaviour", "follows")
# The versions that the book is proven with alike: nothing differs there.
ALIKE = ("2.13.0", "2.14.1", "2.15.0")
PATH = Path("book/reference/versions.yml")
_HEADING = """\
# What differs on each version of torch from what the book prints: `python -m press versions` writes it. Of an entry the
# kind may be changed; `fact` names what tells of it (book/reference/version_facts/), or `because` why nothing has to.
"""


@dataclasses.dataclass
class Entry:
    """What one cell shows on some versions: the first line that differs, in print and there.

    Attributes:
        notebook: its path in the project.
        cell: its id.
        begins: the first line of its source.
        on: the versions, the oldest first.
        kind: one of ``KINDS``.
        printed: the first line that the book prints and that is not shown there.
        here: the first line that is shown there in its place.
        messages: the error messages that the cell shows there, and does not print.
        fact: the id of the fact that tells of it.
        because: why no fact has to.
    """

    notebook: str
    cell: str
    begins: str
    on: list[str]
    kind: str
    printed: str = ""
    here: str = ""
    messages: list[str] = dataclasses.field(default_factory=list)
    fact: str = ""
    because: str = ""

    @property
    def told(self) -> bool:
        """Whether a reader is told, or need not be."""
        return self.kind != BEHAVIOUR or bool(self.fact or self.because)


@dataclasses.dataclass
class Record:
    """All that is recorded.

    Attributes:
        versions: of each version of torch what was counted there.
        entries: each cell that differs.
        answers: exercise and answer to what is wrong, by version: ``{"03-x-some_answer": {"2.6.0": "…"}}``.
        facts: what the probe of each fact prints, by version.
    """

    versions: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    entries: list[Entry] = dataclasses.field(default_factory=list)
    answers: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
    facts: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)

    def replace(self, version: str, notebooks: Iterable[str], found: Iterable[Entry]) -> None:
        """Take what was found on a version in these notebooks in place of what was recorded of them."""
        before = self.entries
        run = set(notebooks)
        kept = [
            dataclasses.replace(entry, on=[one for one in entry.on if one != version or entry.notebook not in run])
            for entry in before
        ]
        entries = {_key(entry): entry for entry in kept if entry.on}
        for entry in found:
            judged = _judged(entry, before)
            same = entries.setdefault(_key(judged), dataclasses.replace(judged, on=[]))
            same.on = in_order([*same.on, version])
        self.entries = list(entries.values())

    def forget(self, known: Container[tuple[str, str]]) -> None:
        """Drop what is recorded of cells that are printed no more: ``known`` has the notebook and the id of each."""
        self.entries = [entry for entry in self.entries if (entry.notebook, entry.cell) in known]

    def judge(self, explains: Mapping[str, Sequence[str]], pinned: str) -> None:
        """Name the fact of each entry that behaves otherwise and of which nothing is said yet.

        What an author has said stays, unless the fact is gone or does not differ on that version.

        Args:
            explains: of each fact the patterns of the cells that differ for it, in the order in which they are asked.
            pinned: the version that the book is proven with.
        """
        judged: dict[tuple[str, ...], Entry] = {}
        for entry in self.entries:
            for version in entry.on:
                differ = [name for name in explains if self._differs(name, version, pinned)]
                fact = entry.fact if entry.fact in differ else ""
                if entry.kind == BEHAVIOUR and not (fact or entry.because):
                    shown = f"{entry.notebook}: {entry.printed} => {entry.here}"
                    found = (name for name in differ if any(re.search(one, shown) for one in explains[name]))
                    fact = next(found, "")
                one = dataclasses.replace(entry, on=[version], fact=fact)
                same = judged.setdefault(_key(one), dataclasses.replace(one, on=[]))
                same.on = in_order([*same.on, version])
        self.entries = list(judged.values())

    def facts_of(self, notebook: str) -> set[str]:
        """The facts for which some cell of a notebook behaves otherwise on some version."""
        return {entry.fact for entry in self.entries if entry.notebook == notebook and entry.fact}

    def reasons_of(self, notebook: str) -> list[str]:
        """Why cells of a notebook behave otherwise where no fact tells it, each once."""
        told = (entry.because for entry in self.entries if entry.notebook == notebook and entry.because)
        return list(dict.fromkeys(told))

    def _differs(self, fact: str, version: str, pinned: str) -> bool:
        lines = self.facts.get(fact, {})
        return version in lines and pinned in lines and lines[version] != lines[pinned]

    def counted(self, version: str) -> dict[str, int]:
        """How many cells differ on a version, by kind; of those that behave otherwise, how many are not told."""
        here = [entry for entry in self.entries if version in entry.on]
        counts = {kind: sum(entry.kind == kind for entry in here) for kind in KINDS}
        return {**counts, "not told": sum(not entry.told for entry in here)}

    def solutions_need(self, pinned: str) -> dict[str, str]:
        """Of each exercise whose solution fails on versions before the pinned one: the oldest on which all is well.

        Args:
            pinned: the version that the book is proven with.

        Returns:
            ``{"03-clean-up": "2.9"}``; an exercise whose solution passes on every version is not in it.
        """
        failed: dict[str, set[str]] = {}
        for entry in self.entries:
            before, here = _REPORT.match(entry.printed), _REPORT.match(entry.here)
            if entry.notebook.startswith("solutions/") and before and here and before["passed"] and not here["passed"]:
                failed.setdefault(before["exercise"], set()).update(entry.on)
        ordered = in_order(self.versions)
        older = ordered[: ordered.index(pinned)] if pinned in ordered else []
        last = {name: max((older.index(one) for one in on if one in older), default=-1) for name, on in failed.items()}
        return {name: minor(ordered[at + 1]) for name, at in sorted(last.items()) if at >= 0}


def in_order(versions: Iterable[str]) -> list[str]:
    """Each version once, the oldest first."""
    return sorted(set(versions), key=Version)


def read(root: Path = ROOT) -> Record:
    """What is recorded; nothing where no record is."""
    path = root / PATH
    # The parser in C is ten times as fast; a build of PyYAML may lack it.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    told = yaml.load(path.read_text(encoding="utf-8"), loader) if path.is_file() else {}
    entries = [
        Entry(notebook, cell, shown["begins"], entry.pop("torch").split(), **entry)
        for notebook, cells in told.get("cells", {}).items()
        for cell, shown in cells.items()
        for entry in shown["differs"]
    ]
    return Record(
        told.get("versions", {}),
        entries,
        {name: _by_version(rows, "says") for name, rows in told.get("answers", {}).items()},
        {name: _by_version(rows, "prints") for name, rows in told.get("facts", {}).items()},
    )


def write(record: Record, root: Path = ROOT) -> bool:
    """Store the record; return whether it changed."""
    return stored.replace(root / PATH, text(record))


def text(record: Record) -> str:
    """The record as it is stored."""
    cells: dict[str, dict[str, Any]] = {}
    for entry in sorted(record.entries, key=lambda one: (one.notebook, one.cell, Version(one.on[0]))):
        shown = cells.setdefault(entry.notebook, {}).setdefault(entry.cell, {"begins": entry.begins, "differs": []})
        told = {"torch": " ".join(entry.on), **dataclasses.asdict(entry)}
        left_out = ("notebook", "cell", "begins", "on")
        shown["differs"].append({name: value for name, value in told.items() if value and name not in left_out})
    told = {
        "versions": {version: record.versions[version] for version in in_order(record.versions)},
        "cells": cells,
        "answers": {name: _rows(record.answers[name], "says") for name in sorted(record.answers)},
        "facts": {name: _rows(record.facts[name], "prints") for name in sorted(record.facts)},
    }
    body = yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=120)
    return _HEADING + body


def ranges(by_version: Mapping[str, str]) -> list[tuple[list[str], str]]:
    """Neighbouring versions of which the same is told, the oldest first."""
    found: list[tuple[list[str], str]] = []
    for version in in_order(by_version):
        if found and found[-1][1] == by_version[version]:
            found[-1][0].append(version)
        else:
            found.append(([version], by_version[version]))
    return found


def spans(versions: Iterable[str], known: Iterable[str]) -> str:
    """``"2.6 to 2.9, 2.15"``: versions, those that follow one another among the known ones in one span."""
    wanted = set(versions)
    runs = ranges({version: str(version in wanted) for version in {*known, *wanted}})
    return ", ".join(span(run) for run, among in runs if among == str(True))


def span(versions: Sequence[str]) -> str:
    """``"2.6 to 2.9"`` of versions in order that follow one another; or the only one."""
    first, last = minor(versions[0]), minor(versions[-1])
    return first if first == last else f"{first} to {last}"


def minor(version: str) -> str:
    """As people name it: ``"2.15"`` of ``"2.15.0"``."""
    return re.sub(r"^(\d+\.\d+)\..*", r"\1", version)


def _rows(by_version: Mapping[str, str], name: str) -> list[dict[str, str]]:
    return [{"torch": " ".join(versions), name: told} for versions, told in ranges(by_version)]


def _by_version(rows: Iterable[Mapping[str, str]], name: str) -> dict[str, str]:
    return {version: row[name] for row in rows for version in row["torch"].split()}


def _key(entry: Entry) -> tuple[str, ...]:
    return (entry.notebook, entry.cell, entry.kind, entry.printed, entry.here, entry.fact, entry.because)


def _judged(entry: Entry, before: Iterable[Entry]) -> Entry:
    """The entry with what an author has said of it, or of the same cell where all that is said of that agrees."""
    of_the_cell = [one for one in before if (one.notebook, one.cell) == (entry.notebook, entry.cell)]
    if not of_the_cell:  # Its source was changed, and so its id.
        of_the_cell = [one for one in before if one.notebook == entry.notebook and one.here == entry.here]
    same = [one for one in of_the_cell if (one.printed, one.here) == (entry.printed, entry.here)] or [
        one for one in of_the_cell if one.here == entry.here
    ]
    if same:
        return dataclasses.replace(entry, kind=same[0].kind, fact=same[0].fact, because=same[0].because)
    said = {(one.fact, one.because) for one in of_the_cell}
    if entry.kind == BEHAVIOUR and len(said) == 1:
        fact, because = said.pop()
        return dataclasses.replace(entry, fact=fact, because=because)
    return entry
