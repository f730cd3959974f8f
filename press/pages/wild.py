"""The page of faults in other packages' passes, generated from programs and a record of their output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import yaml

from press.book import Book

# Written by `python -m tests.wild`, compared by `make prove ROOM=models`.
RECORD = Path("book/reference/wild.yml")
# A program for each entry; its folder is named after the package.
FAULTS = Path("tests/wild/faults")
# The parts of a program's docstring after its first line, and the optional issue.
PARTS = ("Expected", "What happens", "Workaround")
_KNOWN = "Known as"
_PROGRAM = re.compile(r'"""(?P<title>.+)\.\n\n(?P<text>.+?)\n"""\n(?P<code>.+)', re.DOTALL)
_PART = re.compile(rf"^({'|'.join((*PARTS, _KNOWN))}):", re.MULTILINE)
_ISSUE = re.compile(r"([\w-]+/[\w-]+)#(\d+)")
_PAGE = """\
# Faults found in the wild

We ran [`check_pass`](tools.ipynb#what-a-pass-must-keep) on passes from other packages, and it found {count} faults in
{packages} packages. We wrote a program to show each one. The program first asserts with torch alone that the fault is
there, then prints what `check_pass` says. Most of the passes we tried keep what they must. Each fault holds for the
version named, and a later version may have fixed it.

Faults that appear only if a graph writes in place are
[with the random graphs](random_graphs.md#what-random-graphs-find-in-passes-of-torch). `make prove ROOM=models` runs all
of this.

{entries}
"""


def page_text(book: Book) -> str:
    record = yaml.safe_load((book.root / RECORD).read_text(encoding="utf-8"))
    return _PAGE.format(
        count=len(record["said"]),
        packages=len(record["versions"]),
        entries="\n\n".join(_entries(book, record["versions"], record["said"])),
    )


def _entries(book: Book, versions: dict[str, str], said: dict[str, list[str]]) -> Iterator[str]:
    for package, programs in groupby(said, lambda program: program.partition("/")[0]):
        yield f"## {package} {versions[package]}"
        for program in programs:
            parts = _PROGRAM.fullmatch((book.root / FAULTS / f"{program}.py").read_text(encoding="utf-8"))
            yield f"### {parts['title']}"
            linked = _ISSUE.sub(r"[\g<0>](https://github.com/\1/issues/\2)", parts["text"])
            yield _PART.sub(r"- **\1:**", linked)
            yield "\n".join(("```text", *said[program], "```"))
            yield f"<details><summary>The program, <code>{FAULTS}/{program}.py</code></summary>"
            yield f"```python\n{parts['code'].strip()}\n```"
            yield "</details>"
