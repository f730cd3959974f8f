"""Generate each notebook that differs from its manuscript: execute them in parallel, and replace each as a whole."""

from __future__ import annotations

import asyncio
import copy
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from nbformat import NotebookNode

from press import stored
from press.book import Book
from press.manuscript.problems import Place, PressError
from press.printing import unchanged
from press.printing.derive import Derived, derive, with_reports
from press.printing.execution import execute
from press.printing.freshness import INDEXES, Texts, derive_as_stored, stale
from press.printing.lint import lint


def changed(book: Book, paths: Iterable[Path], everything: bool = False) -> tuple[list[Path], list[PressError]]:
    """The sources of these files that differ from their stored notebooks, or all if ``everything``; and the errors."""
    sources: dict[Path, None] = {}
    failures: list[PressError] = []
    for path in paths:
        try:
            source = book.source_of(path)
            if everything or any(stale(one, book.stored(one.path)) for one in derive_as_stored(book, source)):
                sources[source] = None
        except PressError as error:
            failures.append(error)
    return list(sources), failures


def generate(book: Book, paths: list[Path] | None = None, everything: bool = False, pages: Texts | None = None) -> int:
    """Generate the notebooks that differ from the given manuscripts (by default from all).

    A manuscript with an error keeps its old notebooks and does not stop the others.

    Args:
        book: the book, which must not have been used before.
        paths: pages of the manuscript, and files or folders of exercises, whose whole sheet is generated.
        everything: generate and run each, even without a difference; otherwise a page keeps its outputs if only prose
            differs.
        pages: pages without cells to generate as well.

    Returns the number of errors, which are on stderr.
    """
    whole = not paths and not everything and pages is not None
    if whole and unchanged.since_the_last_run(book.root):
        print(_NOTHING)
        return 0
    begun = time.monotonic()
    sources, failures = changed(book, paths or book.sources, everything)
    written, faults = _write_texts(INDEXES, book)
    failures += faults + asyncio.run(_generate_all(sources, book, everything))
    more, faults = _write_texts(pages or {}, book)
    written, failures = written + more, failures + faults
    # A manuscript that cannot be read fails once for its notebook and once for an index.
    messages = dict.fromkeys(line for failure in failures for line in map(str, sorted(failure.problems)))
    for message in messages:
        print(message, file=sys.stderr)
    if whole and not messages:
        unchanged.remember(book.root)
    if sources:
        seconds = time.monotonic() - begun
        print(f"Notebooks generated from {len(sources)} of {len(paths or book.sources)} manuscripts ({seconds:.1f} s).")
    elif not written and not messages:
        print(_NOTHING)
    return len(messages)


def _write_texts(texts: Mapping[Path, Callable[[Book], str]], book: Book) -> tuple[list[Path], list[PressError]]:
    written: list[Path] = []
    failures: list[PressError] = []
    for path, text in texts.items():
        try:
            if stored.replace(book.root / path, text(book)):
                written.append(path)
                print(f"{path.as_posix()}: written", flush=True)
        except PressError as error:
            failures.append(error)
    return written, failures


_NOTHING = "Nothing to generate: every notebook matches its manuscript."


async def _generate_all(sources: list[Path], book: Book, everything: bool) -> list[PressError]:
    cores = asyncio.Semaphore(os.cpu_count() or 1)
    done = 0

    async def generate_source(source: Path) -> PressError | None:
        nonlocal done
        failure = None
        async with cores:
            begun = time.monotonic()
            try:
                await _generate_one(source, book, everything)
            except PressError as error:
                failure = error
            seconds = time.monotonic() - begun
        done += 1
        name = book.targets(source)[0].relative_to(book.root).with_suffix("").as_posix()
        print(f"[{done}/{len(sources)}] {name}: {'FAILED' if failure else 'generated'} ({seconds:.1f} s)", flush=True)
        return failure

    return [failure for failure in await asyncio.gather(*map(generate_source, sources)) if failure]


async def _generate_one(source: Path, book: Book, everything: bool) -> None:
    notebooks = {}
    for derived in derive(book, source):
        kept = None if everything or derived.exercise_ids else _with_outputs_of(book.stored(derived.path), derived)
        executed = kept or await execute(derived)
        if derived.executed:
            _refuse_unsolved(derived, executed)
            final = executed
        else:
            # The stubs ran only for the reports of their checks.
            final = with_reports(derived, _reports(derived, executed)).notebook
        if faults := lint(final, derived.executed):
            raise PressError(*(derived.places[fault.cell].problem(fault.message) for fault in faults))
        notebooks[derived.path] = final
    for path, notebook in notebooks.items():
        book.store(path, notebook)


def _with_outputs_of(stored: NotebookNode | None, derived: Derived) -> NotebookNode | None:
    notebook = copy.deepcopy(derived.notebook)
    before, now = ([cell for cell in one.cells if cell.cell_type == "code"] for one in (stored or notebook, notebook))
    if [(cell.source, cell.metadata) for cell in before] != [(cell.source, cell.metadata) for cell in now]:
        return None
    for cell, one in zip(now, before, strict=True):
        if one.execution_count is None:
            return None
        cell.update(outputs=one.outputs, execution_count=one.execution_count)
    return notebook


def _reports(derived: Derived, executed: NotebookNode) -> dict[str, str]:
    reports = {}
    for identity, place, report in _checked(derived, executed):
        if not report.strip():
            raise PressError(place.problem(f"the check of {identity} prints no report for the stub"))
        reports[identity] = report
    return reports


def _refuse_unsolved(derived: Derived, executed: NotebookNode) -> None:
    """Raise if a solution did not pass its check, for example because a busy machine ran out of time."""
    for identity, place, report in _checked(derived, executed):
        if ": solved." not in report:
            reason = " ".join(report.split("\n")[1:2])
            message = f"the solution of {identity} does not pass its check, or did not this time: {reason}"
            raise PressError(place.problem(message))


def _checked(derived: Derived, executed: NotebookNode) -> Iterator[tuple[str, Place, str]]:
    for cell, place in zip(executed.cells, derived.places, strict=True):
        for identity in derived.exercise_ids:
            if cell.cell_type == "code" and cell.source.startswith(f'check("{identity}"'):
                texts = [output["data"].get("text/plain", "") for output in cell.outputs if "data" in output]
                yield identity, place, "\n".join(texts)
