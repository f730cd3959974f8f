"""Run the book on other versions of torch, two notebooks at a time, and record what differs."""

from __future__ import annotations

import asyncio
import dataclasses
import difflib
import functools
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from nbformat import NotebookNode

from press import ROOT
from press.binding.environment import SetupError
from press.book import Book
from press.printing import warm
from press.versions import answers, environments, facts, probes, record
from press.versions.cells import Difference, differences
from press.versions.outputs import first_difference, messages

# The versions that are asked where none is named: the newest release of each line that the book is told of.
VERSIONS = ("2.6.0", "2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0")
_AT_A_TIME = 2
# Of each version, all that differs, in full: for authors, and not committed.
_DETAILS = ROOT / "_build" / "versions"
_NO_FORK = "The cells run in forks, on Linux and macOS alone. `python -m press versions --facts` runs here too."


@dataclasses.dataclass(frozen=True)
class Seen:
    """What was seen on one version.

    Attributes:
        ran: how many cells ran.
        found: of each notebook the cells that differ.
        printed: what the probe of each fact prints.
        judged: how many answers were judged.
        wrong: those of which something else is said than the tests expect, with what is said.
    """

    ran: int
    found: dict[Path, list[Difference]]
    printed: dict[str, str]
    judged: int
    wrong: dict[str, str]


def run(
    versions: Sequence[str], only: Sequence[str] = (), *, with_answers: bool = False, facts_alone: bool = False
) -> int:
    """Run the book on these versions, and write the record.

    Args:
        versions: of torch; all of ``VERSIONS`` where none is named.
        only: parts of the paths of notebooks; where some are given, the others stay as they were recorded, and the
            facts, too.
        facts_alone: whether the probes of the facts are all that is asked.
        with_answers: whether every answer to every exercise is judged as well, which takes much longer.

    Raises:
        SetupError: an environment cannot be made.
    """
    for version in versions or VERSIONS:
        begun = time.monotonic()
        python = environments.ensure(version)
        book = Book()
        paths = [] if facts_alone else notebooks(book, only)
        # What was found so far stays where a run is cut off.
        each = functools.partial(_keep, book, version)
        seen = see(book, paths, python, with_answers, each, with_facts=facts_alone or not only)
        seconds = time.monotonic() - begun
        kept = record.read()
        if seen.printed:
            kept.facts = probes.merged(kept.facts, version, seen.printed)
        told = kept.versions.setdefault(version, {})
        if paths and not only:
            told.update({"cells": seen.ran, "seconds": round(seconds)})
        if with_answers:
            kept.answers = answers.merged(kept.answers, version, seen.wrong)
            told.update({"answers": seen.judged, "answers refused": len(seen.wrong)})
        _write(kept, book)
        counts = ", ".join(f"{count} {kind}" for kind, count in kept.counted(version).items() if count)
        print(f"torch {version}: {seen.ran} cells; {counts or 'none differs'} ({seconds:.0f} s)", flush=True)
        if paths:
            print(f"What differs, in full: {_write_details(version, seen.found)}", flush=True)
    return 0


def _keep(book: Book, version: str, path: Path, differing: Sequence[Difference]) -> None:
    """Record what was found in one notebook."""
    kept = record.read()
    kept.versions.setdefault(version, {})
    kept.replace(version, [_name(path)], [_entry(path, one, version) for one in differing])
    _write(kept, book)


def _write(kept: record.Record, book: Book) -> None:
    """Store the record, with what the facts explain, and without cells that are printed no more."""
    kept.forget({(_name(path), cell.id) for path in notebooks(book) for cell in _cells(book, path)})
    kept.judge({fact.id: fact.explains for fact in facts.read().values()}, book.pins["torch"])
    for version, counts in kept.versions.items():
        counts.update(kept.counted(version))
    record.write(kept)


def notebooks(book: Book, only: Sequence[str] = ()) -> list[Path]:
    """The notebooks that are proven; of these, those with one of these parts in their paths."""
    paths = [book.targets(source)[-1] for source in book.sources]
    return [path for path in paths if not only or any(part in path.as_posix() for part in only)]


def see(
    book: Book,
    paths: Iterable[Path],
    python: Path,
    with_answers: bool,
    each: Callable[[Path, list[Difference]], None] = lambda *_: None,
    *,
    with_facts: bool = True,
) -> Seen:
    """Run these notebooks, the probes of the facts and, if asked, every answer, with an interpreter.

    Args:
        book: the book.
        paths: its notebooks that are to run.
        python: the interpreter.
        with_answers: whether every answer to every exercise is judged.
        each: is called with each notebook that has run and its cells that differ.
        with_facts: whether the probes of the facts are run.
    """
    paths = list(paths)
    ran, found = cells(book, paths, python, each) if paths else (0, {})
    printed = probes.ask(python) if with_facts else {}
    judged, wrong = answers.judge(python) if with_answers else (0, {})
    return Seen(ran, found, printed, judged, wrong)


def cells(
    book: Book, paths: Iterable[Path], python: Path, each: Callable[[Path, list[Difference]], None] = lambda *_: None
) -> tuple[int, dict[Path, list[Difference]]]:
    """Run notebooks with an interpreter; return how many cells ran, and of each notebook those that differ.

    Raises:
        SetupError: the system cannot fork a process.
    """
    if not warm.AVAILABLE:
        raise SetupError(_NO_FORK)
    kernels = warm.WarmKernels(python)
    before = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = kernels.jupyter_path
    try:
        kernels.start()
        return asyncio.run(_run_all(book, list(paths), each))
    finally:
        kernels.stop()
        os.environ.pop("JUPYTER_PATH")
        if before is not None:
            os.environ["JUPYTER_PATH"] = before


async def _run_all(
    book: Book, paths: list[Path], each: Callable[[Path, list[Difference]], None]
) -> tuple[int, dict[Path, list[Difference]]]:
    room = asyncio.Semaphore(_AT_A_TIME)
    ran = 0
    found: dict[Path, list[Difference]] = {}

    async def run_one(path: Path) -> None:
        nonlocal ran
        async with room:
            notebook = book.printed(path)
            if notebook is None:
                return
            count, differing = await differences(path, notebook)
        ran += count
        found[path] = differing
        each(path, differing)
        name = _name(path, book.root)
        print(f"[{len(found)}/{len(paths)}] {name}: {len(differing)} of {count} differ", flush=True)

    await asyncio.gather(*map(run_one, paths))
    return ran, dict(sorted(found.items()))


def _cells(book: Book, path: Path) -> list[NotebookNode]:
    notebook = book.printed(path)
    return notebook.cells if notebook else []


def _entry(path: Path, one: Difference, version: str) -> record.Entry:
    printed, here = first_difference(one.printed, one.here)
    new = [message for message in messages(one.here) if message not in messages(one.printed)]
    return record.Entry(_name(path), one.cell, one.begins, [version], one.kind, printed, here, new)


def _name(path: Path, root: Path = ROOT) -> str:
    return path.relative_to(root).as_posix()


def _write_details(version: str, found: dict[Path, list[Difference]]) -> str:
    lines: list[str] = []
    for path, differing in found.items():
        for one in differing:
            lines += [f"=== {_name(path)} · {one.cell} · {one.kind} · {one.begins}"]
            lines += difflib.unified_diff(one.printed.lines(), one.here.lines(), "printed", version, lineterm="", n=1)
    path = _DETAILS / f"{version}.diff"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return _name(path)
