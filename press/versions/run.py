"""Run the book on other versions of torch, record the differences, and list the cells that no fact explains."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import difflib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from press import ROOT
from press.binding.environment import SetupError
from press.book import Book
from press.printing import warm
from press.versions import environments, facts, probes, record
from press.versions.cells import Difference, differences
from press.versions.messages import form, searched
from press.versions.outputs import first_difference, messages
from press.versions.record import BEHAVIOUR, FOLLOWS, KINDS, VERSIONS, WARNING, WORDING

# Names in place of a version: the newest one that can be installed, and one of `VERSIONS`, a different one every day.
NEWEST, TODAY = "newest", "today"
REPORTS = ROOT / "_build" / "versions"
_AT_A_TIME = 2
# The first line of a check's report: the exercise, its title, and whether it passed.
_CHECKED = re.compile(r"([\w-]+) \(.*\): (solved|not yet)\.")
_NO_FORK = "The cells run in forks, which only Linux and macOS allow."


def run(versions: Sequence[str], only: Sequence[str] = (), *, facts_alone: bool = False) -> int:
    """Run the book on these versions, record the differences, and write a report for each to ``_build/versions``.

    Args:
        versions: versions of torch, ``NEWEST`` or ``TODAY``; by default all of ``VERSIONS``, which starts a new
            record.
        only: parts of the paths of the notebooks to run; the record of the others stays. By default, all are run.
        facts_alone: only run the probes of the facts.

    Returns:
        1 if a cell differs that no fact explains, or a fact differs from its record; else 0.

    Raises:
        SetupError: an environment cannot be made.
    """
    turn = VERSIONS[datetime.date.today().toordinal() % len(VERSIONS)]
    named = [environments.newest() if one == NEWEST else turn if one == TODAY else one for one in versions]
    if not (named or only or facts_alone):
        kept = record.read()
        kept.pages, kept.messages = {}, []
        record.write(kept)
    return max([_run_on(version, only, facts_alone) for version in named or VERSIONS])


def _run_on(version: str, only: Sequence[str], facts_alone: bool) -> int:
    python = environments.ensure(version)
    book = Book()
    kept = book.record
    printed = probes.outputs(python)
    changed = list(changed_facts(kept.facts, version, printed))
    kept.facts = {name: {**kept.facts.get(name, {}), version: line} for name, line in printed.items()}
    counts = kept.versions.setdefault(version, {})
    found: list[tuple[Difference, str]] = []
    if not facts_alone:
        ran, differing = cells(book, notebooks(book, only), python)
        found = note(kept, book, version, differing)
        if not only:
            counts.update({"cells": ran, **{kind: sum(kind == one.kind for one, _ in found) for kind in KINDS}})
            counts["solutions"] = " ".join(sorted(filter(None, (failing_solution(one) for one in differing))))
    kept.versions[version] = {name: count for name, count in counts.items() if count != ""}
    record.write(kept)
    unexplained = [one for one, fact in found if one.kind == BEHAVIOUR and not fact]
    path = _report(version, found, changed)
    print(
        f"torch {version}: {len(found)} cells differ, {len(unexplained)} of them unexplained; {len(changed)} facts "
        f"differ from their record. Read {path.relative_to(ROOT)}",
        flush=True,
    )
    for one in unexplained:
        print(f"  {one.notebook} · {one.begins}", flush=True)
    return 1 if unexplained or changed else 0


def failing_solution(one: Difference) -> str:
    """The exercise whose solution passes in print and fails here, if that is how the cell differs."""
    before, now = map(_CHECKED.match, first_difference(one.printed, one.here))
    is_solution = one.notebook.startswith("solutions/") and before and now
    return now[1] if is_solution and (before[2], now[2]) == ("solved", "not yet") else ""


def notebooks(book: Book, only: Sequence[str] = ()) -> list[Path]:
    paths = [book.targets(source)[-1] for source in book.sources]
    return [path for path in paths if not only or any(part in path.as_posix() for part in only)]


def cells(book: Book, paths: Iterable[Path], python: Path) -> tuple[int, list[Difference]]:
    """Run notebooks with an interpreter; return how many cells ran, and those that differ."""
    if not warm.AVAILABLE:
        raise SetupError(_NO_FORK)
    kernels = warm.WarmKernels(python)
    before = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = kernels.jupyter_path
    try:
        kernels.start()
        seen = asyncio.run(_run_all(book, list(paths)))
    finally:
        kernels.stop()
        os.environ.pop("JUPYTER_PATH")
        if before is not None:
            os.environ["JUPYTER_PATH"] = before
    return sum(ran for ran, _ in seen), [one for _, differing in seen for one in differing]


async def _run_all(book: Book, paths: list[Path]) -> list[tuple[int, list[Difference]]]:
    room = asyncio.Semaphore(_AT_A_TIME)

    async def run_one(path: Path) -> tuple[int, list[Difference]]:
        async with room:
            notebook = book.stored(path)
            ran, differing = await differences(path, path.relative_to(book.root).as_posix(), notebook)
        print(f"{path.relative_to(book.root)}: {len(differing)} of {ran} differ", flush=True)
        return ran, differing

    return await asyncio.gather(*(run_one(path) for path in paths if book.stored(path)))


def note(
    kept: record.Record, book: Book, version: str, differing: Iterable[Difference]
) -> list[tuple[Difference, str]]:
    """Record the differences of cells on a version; return each with the fact or remark that explains it."""
    found = []
    remarks = book.remarks
    patterns = facts.patterns(version, kept, book.pins["torch"])
    for one in differing:
        printed, here = first_difference(one.printed, one.here)
        shown = f"{one.notebook}: {printed} => {here}"
        fitting = (name for name, some in patterns.items() if any(re.search(pattern, shown) for pattern in some))
        fact = next(fitting, "") if one.kind == BEHAVIOUR else ""
        if fact in remarks:
            one = dataclasses.replace(one, kind=remarks[fact].kind)
        elif one.kind == BEHAVIOUR and not fact and one.reads_lost:
            one = dataclasses.replace(one, kind=FOLLOWS)
        found.append((one, fact))
        says = fact if fact and (fact not in remarks or remarks[fact].says) else ""
        if says:
            pages = kept.pages.setdefault(one.notebook, [])
            kept.pages[one.notebook] = _in_order({*pages, says}, list(remarks))
        if one.kind != FOLLOWS:
            _note_messages(kept, version, one, says)
    return found


def _note_messages(kept: record.Record, version: str, one: Difference, fact: str) -> None:
    printed, here = first_difference(one.printed, one.here)
    before = {form(searched(message)) for message in messages(one.printed)}
    listed = [text for message in (*messages(one.here), here) if (text := searched(message))]
    # If the cell shows no error in the book, its section does not explain the message.
    instead = bool(fact) and not searched(printed)
    at = "" if instead or not one.notebook.startswith("chapters/") else one.section
    for text in listed:
        if (at or fact) and form(text) not in before:
            kept.add(record.Message(text, (version,), at, fact))


def _in_order(names: Iterable[str], remarks: Sequence[str]) -> list[str]:
    return sorted(names, key=lambda name: (name in remarks, remarks.index(name) if name in remarks else 0, name))


def changed_facts(recorded: Mapping[str, Mapping[str, str]], version: str, here: Mapping[str, str]) -> Iterator[str]:
    """The facts that differ from their record for this version, or for the newest if it is not recorded."""
    for name, line in here.items():
        lines = recorded.get(name, {})
        before = lines.get(version, lines[record.in_order(lines)[-1]] if lines else line)
        if before != line:
            yield f"- `{name}`: `{before}` becomes `{line}`"


def _report(version: str, found: Sequence[tuple[Difference, str]], more: Sequence[str]) -> Path:
    lines = [f"# The book on torch {version}", "", *more]
    rank = (BEHAVIOUR, WORDING, WARNING, FOLLOWS)
    for one, fact in sorted(found, key=lambda row: (bool(row[1]), rank.index(row[0].kind))):
        lines += ["", f"## {one.kind}, {fact or 'no fact'}: {one.notebook}", "", f"`{one.begins}`", "", "```diff"]
        lines += [
            *difflib.unified_diff(one.printed.lines(), one.here.lines(), "printed", version, n=1, lineterm=""),
            "```",
        ]
    path = REPORTS / f"{version}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
