"""Print what the manuscript changed: each notebook that differs from it, executed in parallel, replaced as a whole."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from nbformat import NotebookNode

from press import ROOT
from press.manuscript.problems import PressError, Problem
from press.printing.derive import Derived, derive, manuscripts
from press.printing.execution import execute, serialised
from press.printing.freshness import INDEXES, derive_as_printed, derived_texts, stale
from press.printing.lint import lint


def print_notebooks(paths: list[Path] | None = None, everything: bool = False, root: Path = ROOT) -> int:
    """Print the notebooks of the given manuscripts (of all where none is given) that differ from them.

    A manuscript that cannot be printed leaves its earlier notebooks as they were and does not stop the others.

    Returns:
        The number of manuscripts that could not be printed; the reasons are on stderr.
    """
    failures: list[PressError] = []
    changed: list[Path] = []
    for path in paths or manuscripts(root):
        try:
            if everything or any(stale(derived) for derived in derive_as_printed(path, root)):
                changed.append(path)
        except PressError as error:
            failures.append(error)
    failures += _print_texts(INDEXES, root)
    failures += asyncio.run(_print_all(changed, root))
    failures += _print_texts({path: text for path, text in derived_texts(root).items() if path not in INDEXES}, root)
    # A manuscript that cannot be read fails once for its notebook and once for an index.
    told = dict.fromkeys(map(str, failures))
    for failure in told:
        print(failure, file=sys.stderr)
    if not changed and not told:
        print("Nothing to print: every notebook is as its manuscript says.")
    return len(told)


def _print_texts(texts: Mapping[Path, Callable[[Path], str]], root: Path) -> list[PressError]:
    failures = []
    for path, text in texts.items():
        try:
            _replace(root / path, text(root))
        except PressError as error:
            failures.append(error)
    return failures


async def _print_all(paths: list[Path], root: Path) -> list[PressError]:
    """Print each manuscript, as many at a time as there are cores; return what failed."""
    cores = asyncio.Semaphore(os.cpu_count() or 1)
    done = 0

    async def one(path: Path) -> PressError | None:
        nonlocal done
        failure = None
        async with cores:
            try:
                await _print_one(path, root)
            except PressError as error:
                failure = error
        done += 1
        name = path.relative_to(root / "book").with_suffix("").as_posix()
        print(f"[{done}/{len(paths)}] {name}: {'FAILED' if failure else 'printed'}", flush=True)
        return failure

    return [failure for failure in await asyncio.gather(*map(one, paths)) if failure]


async def _print_one(path: Path, root: Path) -> None:
    notebooks = derive(path, {}, root)
    texts = {}
    for derived in notebooks:
        executed = await execute(derived)
        if derived.executed:
            _refuse_unsolved(derived, executed)
            final, lines = executed, derived.lines
        else:
            # The stubs ran to learn what an unsolved check prints; only that is kept.
            written = derive(path, _reports(derived, executed), root)[0]
            final, lines = written.notebook, written.lines
        if problems := [Problem(path, lines[fault.cell], fault.message) for fault in lint(final, derived.executed)]:
            raise PressError(*problems)
        texts[derived.path] = serialised(final)
    for target, text in texts.items():
        _replace(target, text)


def _reports(derived: Derived, executed: NotebookNode) -> dict[str, str]:
    """What the checks of the unsolved exercises printed, by exercise."""
    reports = {}
    for identity, line, report in _checked(derived, executed):
        if not report.strip():
            message = f"the check of {identity} prints no report for the stub"
            raise PressError(Problem(derived.manuscript, line, message))
        reports[identity] = report
    return reports


def _refuse_unsolved(derived: Derived, executed: NotebookNode) -> None:
    """A solution that did not pass, be it for lack of time on a busy machine, must not be printed as one."""
    for identity, line, report in _checked(derived, executed):
        if "public checks passed" not in report:
            said = " ".join(report.split("\n")[1:2])
            message = f"the solution of {identity} does not pass its check, or did not this time: {said}"
            raise PressError(Problem(derived.manuscript, line, message))


def _checked(derived: Derived, executed: NotebookNode) -> Iterator[tuple[str, int, str]]:
    """Each exercise with the line of its check and the report that was printed."""
    for cell, line in zip(executed.cells, derived.lines, strict=True):
        for identity in derived.exercise_ids:
            if cell.cell_type == "code" and cell.source.startswith(f'check("{identity}"'):
                texts = [output["data"].get("text/plain", "") for output in cell.outputs if "data" in output]
                yield identity, line, "\n".join(texts)


def _replace(path: Path, text: str) -> None:
    """Write a file as a whole or not at all; leave it alone when nothing changes."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
