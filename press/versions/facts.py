"""The facts that changed between versions of torch, each in its own file in ``book/reference/version_facts/``.

Such a file is a program, the *probe* of the fact. It prints one line, which is the same wherever torch behaves the
same. Its name is the id of the fact, with underscores for hyphens. Its docstring is the text for readers:

- the title, a line that holds on the version that the book is tested with;
- a paragraph or two, in which ``{since}`` and ``{later}`` stand for versions from the record: the first one that
  behaves as the book says, and the first later one that differs again;
- if cells differ because of it, a paragraph that begins with ``Explains:`` and lists regular expressions, one per line.
  They are searched for in ``notebook: first line that differs => first line that is shown there instead``, only on
  versions on which the probe prints a different line than on the pinned one;
- at the end, if no page has a note on it, a paragraph that begins with ``Nowhere:`` and says why.

``python -m press versions`` records what the probe prints on each version. Differences in single cells that no such
fact explains are described by a *remark*, in ``single_cells.yml`` in the same folder.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from press import ROOT
from press.manuscript.problems import PressError, Problem
from press.versions.record import BEHAVIOUR, Record, minor, ranges, span

FOLDER = Path("book/reference/version_facts")
_NOWHERE, _EXPLAINS = "Nowhere:", "Explains:"


@dataclasses.dataclass(frozen=True)
class Fact:
    """Something that changed: its id, its file, its text, and why no page has a note on it (``""`` if one has).

    ``explains`` holds the patterns for the cells that differ because of it.
    """

    id: str
    path: Path
    title: str
    text: str
    nowhere: str = ""
    explains: tuple[str, ...] = ()

    def problem(self, message: str) -> PressError:
        return PressError(Problem(self.path, 1, message))


@dataclasses.dataclass(frozen=True)
class RecordedFact:
    """A fact with its record.

    Attributes:
        fact: what changed.
        rows: ranges of versions and what the probe prints there, the oldest first.
        since: the first version with the same line as the pinned one, ``"2.10"``; ``""`` if that is the oldest of all.
        later: the first version after the pinned one with a different line, or ``""``.
    """

    fact: Fact
    rows: tuple[tuple[str, str], ...]
    since: str
    later: str

    @property
    def when(self) -> str:
        """The versions that differ from the book: ``"Before torch 2.10, and since 2.14"``."""
        before, after = f"efore torch {self.since}", f"ince torch {self.later}"
        if self.since and self.later:
            return f"B{before}, and since {self.later}"
        return f"B{before}" if self.since else f"S{after}"

    @property
    def holds(self) -> str:
        """The versions for which the title holds: ``"Only from torch 2.10 on, and before 2.14"``."""
        if self.since and self.later:
            return f"Only from torch {self.since} on, and before {self.later}"
        return f"Only from torch {self.since} on" if self.since else f"Only before torch {self.later}"

    @property
    def changed(self) -> tuple[str, ...]:
        """The versions with which it changed, the latest first: ``("2.14", "2.10")``."""
        return tuple(filter(None, (self.later, self.since)))

    @property
    def order(self) -> tuple[int, ...]:
        """The version with which it changed last, as numbers for sorting: ``(2, 10)``."""
        return tuple(map(int, self.changed[0].split(".")))

    @property
    def text(self) -> str:
        return self.fact.text.replace("{since}", self.since).replace("{later}", self.later)

    @property
    def table(self) -> str:
        rows = [f"| {versions} | {_code(line)} |" for versions, line in self.rows]
        return "\n".join(["| torch | prints |", "|---|---|", *rows])


def read(root: Path = ROOT) -> dict[str, Fact]:
    """Every fact by id, in file order. Raises PressError if a file is malformed."""
    return {fact.id: fact for fact in map(_read, sorted((root / FOLDER).glob("*.py")))}


@dataclasses.dataclass(frozen=True)
class Remark:
    """A difference in single cells on some versions: ``says`` is empty if readers do not need an explanation.

    ``kind`` is how such a cell is counted, one of ``record.KINDS``.
    """

    torch: tuple[str, ...]
    explains: str
    says: str = ""
    kind: str = BEHAVIOUR


def remarks(root: Path = ROOT) -> dict[str, Remark]:
    """Every remark by id, in file order, if there is a file."""
    path = root / FOLDER / "single_cells.yml"
    rows = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {name: Remark(**{**row, "torch": tuple(row["torch"].split())}) for name, row in rows.items()}


def patterns(version: str, kept: Record, pinned: str) -> dict[str, tuple[str, ...]]:
    """The patterns of the facts and remarks that apply to a version, by id, in the order in which to try them.

    ``kept`` has what each probe prints on the version and on the pinned one.
    """
    by_facts = {
        name: fact.explains
        for name, fact in read().items()
        if version in (lines := kept.facts.get(name, {})) and lines[version] != lines[pinned]
    }
    # Remarks with a text come before facts, because they are more specific, and the others after them.
    here = {name: one for name, one in remarks().items() if version in one.torch}
    spoken = {name: (one.explains,) for name, one in here.items() if one.says}
    silent = {name: (one.explains,) for name, one in here.items() if not one.says}
    return {**spoken, **by_facts, **silent}


def with_record(fact: Fact, by_version: Mapping[str, str], pinned: str) -> RecordedFact:
    """A fact with its record; ``by_version`` is what its probe prints on each version.

    Raises PressError if there is no record for the pinned version, nothing changed, or the text names an unknown
    version.
    """
    if pinned not in by_version:
        raise fact.problem(f"has no record on torch {pinned}: run `python -m press versions`")
    found = ranges(by_version)
    if len(found) == 1:
        raise fact.problem(f"its probe prints the same on every version: {found[0][1]!r}")
    at = next(number for number, (versions, _) in enumerate(found) if pinned in versions)
    since = minor(found[at][0][0]) if at else ""
    later = minor(found[at + 1][0][0]) if at + 1 < len(found) else ""
    for name, version in (("since", since), ("later", later)):
        if f"{{{name}}}" in fact.text and not version:
            raise fact.problem(f"its text has {{{name}}}, but there is no such version")
    return RecordedFact(fact, tuple((span(versions), line) for versions, line in found), since, later)


def _read(path: Path) -> Fact:
    document = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    title, *paragraphs = re.split(r"\n\s*\n", document)
    identity = path.stem.replace("_", "-")
    if not title or not paragraphs or "\n" in title:
        raise PressError(
            Problem(path, 1, "must begin with a docstring: a title on one line, then the text for readers")
        )
    explains: list[str] = []
    for paragraph in [one for one in paragraphs if one.startswith(_EXPLAINS)]:
        paragraphs.remove(paragraph)
        explains += [line.strip() for line in paragraph.removeprefix(_EXPLAINS).splitlines() if line.strip()]
    nowhere = ""
    if paragraphs[-1].startswith(_NOWHERE):
        nowhere = " ".join(paragraphs.pop().removeprefix(_NOWHERE).split())
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    return Fact(identity, path, title.rstrip("."), text, nowhere, tuple(explains))


def _code(line: str) -> str:
    text = line.replace("|", "\\|")
    return f"`` {text} ``" if "`" in line else f"`{text}`" if line else ""
