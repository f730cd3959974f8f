"""What the newest torch would change: a page for whoever moves the pin."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from press import ROOT
from press.book import Book
from press.manuscript.problems import Place
from press.printing.derive import derive
from press.versions import environments, matrix
from press.versions.cells import Difference
from press.versions.outputs import first_difference
from press.versions.record import BEHAVIOUR, FOLLOWS, WARNING, WORDING

PAGE = ROOT / "_build" / "newest.md"
# A job of GitHub shows on its page what it writes to the file that this variable names.
_SUMMARY = "GITHUB_STEP_SUMMARY"
_TITLES = {
    BEHAVIOUR: "Cells that do something else",
    FOLLOWS: "Cells that only lack what another one sets",
    WORDING: "Cells with other words",
    WARNING: "Cells with a warning more",
}


def tell(*, with_answers: bool) -> int:
    """Run the book on the newest torch that can be installed here, write the page, and say where it is.

    Args:
        with_answers: whether every answer to every exercise is judged as well.

    Returns:
        0 where nothing differs; else 1, so that a scheduled run is noticed.

    Raises:
        SetupError: the index does not answer, or the environment cannot be made.
    """
    version = environments.newest()
    book = Book()
    python = environments.ensure(version)
    seen = matrix.see(book, matrix.notebooks(book), python, with_answers)
    text = page_text(book, version, seen, with_answers)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    if summary := os.environ.get(_SUMMARY):
        with Path(summary).open("a", encoding="utf-8") as shown:
            shown.write(text)
    print(f"Read {PAGE.relative_to(ROOT)}")
    changed = any(_changed(book.record.facts, book.pins["torch"], seen.printed))
    return 1 if any(seen.found.values()) or seen.wrong or changed else 0


def page_text(book: Book, version: str, seen: matrix.Seen, with_answers: bool) -> str:
    """The page: what moving the pin to this version means for cells, exercises and facts."""
    pinned = book.pins["torch"]
    differing = [(path, one) for path, found in seen.found.items() for one in found]
    parts = [f"# Torch {version} in place of {pinned}", _moved(version, pinned)]
    parts.append(f"{seen.ran:,} cells ran; {len(differing)} show something else than is printed.")
    for kind, title in _TITLES.items():
        of_the_kind = [(path, one) for path, one in differing if one.kind == kind]
        if of_the_kind:
            parts.append(f"## {title}: {len(of_the_kind)}")
            places = _places(book, {path for path, _ in of_the_kind})
            parts += [_cell(path.relative_to(book.root), one, places) for path, one in of_the_kind]
    parts.append(_answers(seen) if with_answers else "The answers to the exercises were left out.")
    parts.append(_facts(book.record.facts, pinned, seen.printed))
    return "\n\n".join(parts) + "\n"


def _moved(version: str, pinned: str) -> str:
    if version == pinned:
        return "This is the pinned version: there is no newer one that can be installed here."
    return (
        f"To move the pin: write `torch=={version}` into `pyproject.toml`, then `python -m press pins`, "
        "`python -m press notebooks --all`, `make test`, and read the diff of the notebooks."
    )


def _places(book: Book, paths: set[Path]) -> dict[str, Place]:
    """Where the cells of these notebooks stand in the manuscript, by notebook and id."""
    found = {}
    for source in book.sources:
        if paths.intersection(book.targets(source)):
            for derived in derive(book, source):
                for cell, place in zip(derived.notebook.cells, derived.places, strict=True):
                    found[f"{derived.path}:{cell.id}"] = place
    return found


def _cell(path: Path, one: Difference, places: Mapping[str, Place]) -> str:
    place = places.get(f"{ROOT / path}:{one.cell}")
    where = f"{place.path.relative_to(ROOT)}:{place.line}" if place else path.as_posix()
    printed, here = first_difference(one.printed, one.here)
    return f"`{where}`\n\n```text\n{one.begins}\n- {printed}\n+ {here}\n```"


def _answers(seen: matrix.Seen) -> str:
    lines = [f"- `{name}`: {says}" for name, says in sorted(seen.wrong.items())]
    heading = f"## Exercises: {len(seen.wrong)} of {seen.judged:,} answers are judged otherwise"
    return "\n".join([heading, "", *lines]) if lines else heading


def _facts(recorded: Mapping[str, Mapping[str, str]], pinned: str, here: Mapping[str, str]) -> str:
    lines = list(_changed(recorded, pinned, here))
    heading = "## Facts that change"
    return "\n".join([heading, "", *(lines or ["None of those that are told."])])


def _changed(recorded: Mapping[str, Mapping[str, str]], pinned: str, here: Mapping[str, str]) -> Iterator[str]:
    for name, line in here.items():
        before = recorded.get(name, {}).get(pinned)
        if before is not None and before != line:
            yield f"- `{name}`: `{before}` becomes `{line}`"
