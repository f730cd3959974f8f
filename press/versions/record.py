"""The record of ten versions of torch: ``book/reference/versions.yml``, written by ``python -m press versions``."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from packaging.version import Version

from press import ROOT, stored
from press.versions.messages import form

# How a cell can differ, the least serious first. A cell that FOLLOWS fails only because an earlier one did.
WORDING, WARNING, BEHAVIOUR, FOLLOWS = KINDS = ("wording", "warning", "behaviour", "follows")
# The versions that the book is tested with, without any difference.
ALIKE = ("2.13.0", "2.14.1", "2.15.0")
# All recorded versions: the newest release of each line that the book covers.
VERSIONS = ("2.6.0", "2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", *ALIKE)
PATH = Path("book/reference/versions.yml")
_HEADING = """\
# What `python -m press versions` found: for each version, how many cells differ and which solutions fail; what the
# probe of each fact prints (version_facts/); which facts apply to a page; and the messages of other versions.
"""


@dataclasses.dataclass(frozen=True)
class Message:
    """A message that a cell shows on other versions.

    Attributes:
        text: its words.
        torch: the versions, the oldest first.
        at: the cell's section, relative to ``chapters/``, or ``""`` if that section does not explain it.
        fact: the fact or the remark that explains it, or ``""``.
    """

    text: str
    torch: tuple[str, ...]
    at: str = ""
    fact: str = ""


@dataclasses.dataclass
class Record:
    """The content of ``versions.yml``.

    Attributes:
        versions: the counts of each version of torch, and the solutions that fail there, as ``"solutions"``.
        facts: what the probe of each fact prints, by version.
        pages: the facts and remarks that apply to cells of a notebook, by its path.
        messages: those from other versions, in the order in which they were found.
    """

    versions: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    facts: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
    pages: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    messages: list[Message] = dataclasses.field(default_factory=list)

    def add(self, message: Message) -> None:
        same = next((at for at, one in enumerate(self.messages) if form(one.text) == form(message.text)), None)
        if same is None:
            self.messages.append(message)
        else:
            before = self.messages[same]
            self.messages[same] = dataclasses.replace(before, torch=tuple(in_order([*before.torch, *message.torch])))

    def solutions_need(self, pinned: str) -> dict[str, str]:
        """The oldest version on which a solution passes, by exercise, if it fails on any before the pinned one."""
        ordered = in_order(self.versions)
        needed = {}
        for version, following in itertools.pairwise(ordered):
            if Version(version) < Version(pinned):
                needed.update(dict.fromkeys(self.versions[version].get("solutions", "").split(), minor(following)))
        return dict(sorted(needed.items()))


def read(root: Path = ROOT) -> Record:
    path = root / PATH
    # The parser in C is ten times as fast, but a build of PyYAML may lack it.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    content = yaml.load(path.read_text(encoding="utf-8"), loader) if path.is_file() else {}
    return Record(
        content.get("versions", {}),
        {
            name: {version: line for versions, line in rows.items() for version in versions.split()}
            for name, rows in content.get("facts", {}).items()
        },
        {page: names.split() for page, names in content.get("pages", {}).items()},
        [Message(**{**one, "torch": tuple(one["torch"].split())}) for one in content.get("messages", [])],
    )


def write(record: Record, root: Path = ROOT) -> bool:
    facts = {
        name: {" ".join(versions): line for versions, line in ranges(lines)}
        for name, lines in sorted(record.facts.items())
    }
    messages = [{**dataclasses.asdict(one), "torch": " ".join(one.torch)} for one in record.messages]
    parts = (
        ({"versions": {version: record.versions[version] for version in in_order(record.versions)}}, None),
        ({"facts": facts}, False),
        ({"pages": {page: " ".join(names) for page, names in sorted(record.pages.items())}}, False),
        ({"messages": [{key: value for key, value in one.items() if value} for one in messages]}, None),
    )
    # A line for each version, page and message.
    style = {"allow_unicode": True, "width": 10_000, "sort_keys": False}
    texts = (yaml.safe_dump(part, default_flow_style=flow, **style) for part, flow in parts)
    return stored.replace(root / PATH, _HEADING + "".join(texts))


def ranges(by_version: Mapping[str, str]) -> list[tuple[list[str], str]]:
    """Ranges of versions with the same text, the oldest first."""
    found: list[tuple[list[str], str]] = []
    for version in in_order(by_version):
        if found and found[-1][1] == by_version[version]:
            found[-1][0].append(version)
        else:
            found.append(([version], by_version[version]))
    return found


def spans(versions: Iterable[str], known: Iterable[str]) -> str:
    """``"2.6 to 2.9, 2.15"``: versions, with consecutive ones among the known ones as ranges."""
    wanted = set(versions)
    runs = ranges({version: str(version in wanted) for version in {*known, *wanted}})
    return ", ".join(span(run) for run, among in runs if among == str(True))


def span(versions: Sequence[str]) -> str:
    """``"2.6 to 2.9"`` for consecutive versions, or the only one."""
    first, last = minor(versions[0]), minor(versions[-1])
    return first if first == last else f"{first} to {last}"


def minor(version: str) -> str:
    """The short name: ``"2.15"`` for ``"2.15.0"``."""
    return re.sub(r"^(\d+\.\d+)\..*", r"\1", version)


def in_order(versions: Iterable[str]) -> list[str]:
    return sorted(set(versions), key=Version)
