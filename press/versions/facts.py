"""The facts that changed between versions of torch: one file of ``book/reference/version_facts/`` each.

Such a file is a program that prints one line, the same line wherever torch does the same: the probe of the fact. The
name of the file is the id of the fact, with hyphens. Its docstring is what a reader is told:

- the title, a line that holds on the version that the book is proven with;
- a paragraph or two, in which ``{since}`` and ``{later}`` may stand for versions that are found in the record: the
  first one that does what the book says, and the first one behind it that does otherwise again;
- if cells differ for it, a paragraph that begins with ``Explains:`` and lists, one a line, what is found in them:
  regular expressions, searched in ``notebook: first line that is printed => first line that is shown there``, on those
  versions alone on which the probe prints another line than on the pinned one;
- at the end, if no page has a note of it, a paragraph that begins with ``Nowhere:`` and says why.

What the probe prints on each version is recorded by ``python -m press versions``, and never typed. What single cells do
otherwise for no such fact is told by a *remark*, in ``single_cells.yml`` beside the facts.
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
    """Something that changed: its id, its file, what is told, and why no page has a note (``""`` where one has).

    ``explains`` are the patterns of the cells that differ for it.
    """

    id: str
    path: Path
    title: str
    text: str
    nowhere: str = ""
    explains: tuple[str, ...] = ()

    def problem(self, message: str) -> PressError:
        """A fault of this fact."""
        return PressError(Problem(self.path, 1, message))


@dataclasses.dataclass(frozen=True)
class Told:
    """A fact with what was recorded of it.

    Attributes:
        fact: what changed.
        rows: neighbouring versions and what its probe prints there, the oldest first.
        since: the first version with the line of the pinned one, ``"2.10"``; ``""`` where that is the oldest of all.
        later: the first version behind the pinned one with another line; ``""`` where there is none.
    """

    fact: Fact
    rows: tuple[tuple[str, str], ...]
    since: str
    later: str

    @property
    def when(self) -> str:
        """``"Before torch 2.10, and since 2.14"``: the versions on which it is otherwise than the book says."""
        before, after = f"efore torch {self.since}", f"ince torch {self.later}"
        if self.since and self.later:
            return f"B{before}, and since {self.later}"
        return f"B{before}" if self.since else f"S{after}"

    @property
    def holds(self) -> str:
        """``"Only from torch 2.10 on, and before 2.14"``: the versions on which it is as the title says."""
        if self.since and self.later:
            return f"Only from torch {self.since} on, and before {self.later}"
        return f"Only from torch {self.since} on" if self.since else f"Only before torch {self.later}"

    @property
    def changed(self) -> tuple[str, ...]:
        """The versions with which it changed, the latest first: ``("2.14", "2.10")``."""
        return tuple(filter(None, (self.later, self.since)))

    @property
    def order(self) -> tuple[int, ...]:
        """The version with which it changed last, as numbers that can be compared: ``(2, 10)``."""
        return tuple(map(int, self.changed[0].split(".")))

    @property
    def text(self) -> str:
        """What a reader is told, with the versions."""
        return self.fact.text.replace("{since}", self.since).replace("{later}", self.later)

    @property
    def table(self) -> str:
        """The lines of the probe, version by version."""
        rows = [f"| {versions} | {_code(line)} |" for versions, line in self.rows]
        return "\n".join(["| torch | prints |", "|---|---|", *rows])


def read(root: Path = ROOT) -> dict[str, Fact]:
    """Every fact by id, in the order of their files.

    Raises:
        PressError: a file has not the form of one.
    """
    return {fact.id: fact for fact in map(_read, sorted((root / FOLDER).glob("*.py")))}


@dataclasses.dataclass(frozen=True)
class Remark:
    """What single cells do otherwise on some versions: ``says`` is empty where a reader misses nothing without it.

    ``kind`` is what such a cell counts as, one of ``record.KINDS``.
    """

    torch: tuple[str, ...]
    explains: str
    says: str = ""
    kind: str = BEHAVIOUR


def remarks(root: Path = ROOT) -> dict[str, Remark]:
    """Every remark by id, in the order of the file; none where there is no such file."""
    path = root / FOLDER / "single_cells.yml"
    rows = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {name: Remark(**{**row, "torch": tuple(row["torch"].split())}) for name, row in rows.items()}


def patterns(version: str, kept: Record, pinned: str) -> dict[str, tuple[str, ...]]:
    """What the facts and remarks that differ on a version explain, by their ids, in the order in which they are asked.

    Args:
        version: of torch.
        kept: has what each probe prints on the version and on the pinned one.
        pinned: the version that the book is proven with.
    """
    by_facts = {
        name: fact.explains
        for name, fact in read().items()
        if version in (lines := kept.facts.get(name, {})) and lines[version] != lines[pinned]
    }
    # Those that say something know more of a cell than a fact does, the others less.
    here = {name: one for name, one in remarks().items() if version in one.torch}
    said = {name: (one.explains,) for name, one in here.items() if one.says}
    silent = {name: (one.explains,) for name, one in here.items() if not one.says}
    return {**said, **by_facts, **silent}


def told(fact: Fact, by_version: Mapping[str, str], pinned: str) -> Told:
    """A fact with what was recorded of it.

    Args:
        fact: what changed.
        by_version: what its probe prints on each version.
        pinned: the version that the book is proven with.

    Raises:
        PressError: nothing is recorded of it on the pinned version, nothing changed, or its text names a version that
            there is not.
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
            raise fact.problem(f"its text has {{{name}}}, and there is no such version")
    return Told(fact, tuple((span(versions), line) for versions, line in found), since, later)


def _read(path: Path) -> Fact:
    document = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    title, *paragraphs = re.split(r"\n\s*\n", document)
    identity = path.stem.replace("_", "-")
    if not title or not paragraphs or "\n" in title:
        raise PressError(Problem(path, 1, "begins with a docstring: a title in one line, then what a reader is told"))
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
