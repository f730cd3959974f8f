"""A book: its manuscript and generated files, and where they are; each file is read and parsed once."""

# ruff: noqa: B019  (a book and its caches live as long as the process)

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from fxbook.catalogue import SHEETS
from press import ROOT, imprint, stored
from press.manuscript.claims import Claim, claims
from press.manuscript.problems import PressError, Problem
from press.manuscript.reading import Manuscript, headings, is_manuscript, parse
from press.manuscript.sheet import OPENING, ORDER, ExerciseSheet, read_sheet
from press.versions import facts, record

# The folder of the companion pages, which describe the faults of the chapters.
COMPANIONS = "when_it_breaks"


class Book:
    """A project with a manuscript; it caches each file on first access.

    One or two notebooks are generated from a *source*: a page in ``book/`` with cells, or a chapter's exercise folder.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._stored: dict[Path, NotebookNode | None] = {}

    @functools.cached_property
    def _texts(self) -> dict[Path, str]:
        folder = self.root / "book"
        paths = (path for path in sorted(folder.rglob("*.md")) if not path.relative_to(folder).parts[0].startswith("_"))
        texts = {path: path.read_text(encoding="utf-8") for path in paths}
        return {path: text for path, text in texts.items() if is_manuscript(text)}

    @functools.cached_property
    def sheet_folders(self) -> tuple[Path, ...]:
        """The folders with the exercises of a chapter or project, in chapter order, with projects last."""
        folders = sorted((self.root / "fxbook" / "tasks").glob(SHEETS))
        return tuple(folder for folder in folders if (folder / OPENING).is_file() or (folder / ORDER).is_file())

    @property
    def sources(self) -> tuple[Path, ...]:
        return (*self._texts, *self.sheet_folders)

    def source_of(self, path: Path) -> Path:
        """The source that a file belongs to; raises PressError if there is none."""
        if found := next((source for source in self.sources if source in (path, *path.parents)), None):
            return found
        raise PressError(Problem(path, 1, "has no notebook: name a page of book/ with cells, or an exercise"))

    def targets(self, source: Path) -> tuple[Path, ...]:
        """The notebooks that are generated from a source, the executed one last: stubs and solutions for exercises."""
        if source in self.sheet_folders:
            return tuple(self.root / folder / f"{source.name}.ipynb" for folder in ("exercises", "solutions"))
        inside = source.relative_to(self.root / "book").with_suffix(".ipynb")
        return (self.root / "chapters" / (inside.relative_to("chapters") if inside.parts[0] == "chapters" else inside),)

    @functools.cache
    def page(self, path: Path) -> Manuscript:
        """The parsed page; raises PressError if no notebook can be generated from it."""
        return parse(path, self._texts[path])

    @functools.cache
    def sheet(self, folder: Path) -> ExerciseSheet:
        return read_sheet(folder)

    def sheet_of(self, chapter: str) -> ExerciseSheet:
        return self.sheet(self.root / "fxbook" / "tasks" / chapter)

    def sheets(self) -> list[ExerciseSheet]:
        return [self.sheet(folder) for folder in self.sheet_folders]

    @functools.cached_property
    def imprint(self) -> imprint.Imprint:
        """What the book says about itself; raises PressError if its address is invalid, or its version has no date."""
        return imprint.read(self.root)

    @functools.cached_property
    def pins(self) -> dict[str, str]:
        """The versions that everything is tested with, by package."""
        text = (self.root / "requirements.txt").read_text(encoding="utf-8")
        return dict(re.findall(r"^([\w-]+)==(\S+)", text, re.MULTILINE))

    @functools.cached_property
    def record(self) -> record.Record:
        """The recorded differences of each version of torch."""
        return record.read(self.root)

    @functools.cached_property
    def changes(self) -> dict[str, facts.RecordedFact]:
        """The facts that changed between versions of torch, by id.

        Raises:
            PressError: a fact is malformed, or has no record.
        """
        recorded = self.record.facts
        pinned = self.pins.get("torch", "")
        return {
            name: facts.with_record(fact, recorded.get(name, {}), pinned)
            for name, fact in facts.read(self.root).items()
        }

    @functools.cached_property
    def remarks(self) -> dict[str, facts.Remark]:
        """Differences of single cells on other versions of torch, by id."""
        return facts.remarks(self.root)

    @functools.cached_property
    def solutions_need(self) -> dict[str, str]:
        """For each exercise whose solution fails on an older torch, the oldest on which it passes: ``"2.9"``."""
        return self.record.solutions_need(self.pins.get("torch", ""))

    @functools.cached_property
    def chapters(self) -> dict[str, Path]:
        return {name: path for name, path in self._lessons.items() if name[:2].isdigit()}

    @functools.cached_property
    def projects(self) -> dict[str, Path]:
        """The pages of the projects by name, ``"P1_one_model"``; a project's sheet belongs to no chapter."""
        return {name: path for name, path in self._lessons.items() if not name[:2].isdigit()}

    @functools.cached_property
    def _lessons(self) -> dict[str, Path]:
        return {path.stem: path for path in self._texts if path.parent == self.root / "book" / "chapters"}

    @functools.cached_property
    def companions(self) -> dict[str, Path]:
        """The pages *When it breaks* of the chapters by name, in order: ``"when_it_breaks/03_replacement"``."""
        folder = self.root / "book" / "chapters" / COMPANIONS
        return {f"{COMPANIONS}/{path.stem}": path for path in self._texts if path.parent == folder}

    @functools.cache
    def headings(self, name: str) -> dict[str, str]:
        """The headings of a chapter, its companion or a project, from anchor to text; empty for an unknown name."""
        path = {**self._lessons, **self.companions}.get(name)
        return headings(self.page(path)) if path else {}

    @functools.cache
    def claims(self, path: Path) -> list[Claim]:
        """The claims of a page; raises PressError if a claim is malformed."""
        return claims(self.page(path))

    def claimed(self) -> Iterator[tuple[Manuscript, list[Claim]]]:
        for path in self._texts:
            if path.name.startswith("fact_check_"):
                yield self.page(path), self.claims(path)

    def stored(self, path: Path) -> NotebookNode | None:
        """A generated notebook as it is stored; ``None`` if it is missing or not a notebook."""
        if path not in self._stored:
            self._stored[path] = stored.load(path)
        return self._stored[path]

    def store(self, path: Path, notebook: NotebookNode) -> None:
        stored.replace(path, stored.serialised(notebook))
        self._stored.pop(path, None)

    def lessons(self) -> dict[Path, NotebookNode]:
        chapters = self.root / "book" / "chapters"
        folders = (chapters, chapters / COMPANIONS, self.root / "book" / "reference")
        paths = [self.targets(source)[0] for folder in folders for source in self._texts if source.parent == folder]
        return {path: notebook for path in paths if (notebook := self.stored(path))}

    def proven(self) -> Iterator[NotebookNode]:
        """The generated notebooks that nbval executes: chapters, reference and solutions."""
        for source in self.sources:
            if notebook := self.stored(self.targets(source)[-1]):
                yield notebook


@functools.cache
def the_book(root: Path = ROOT) -> Book:
    """The book of this checkout, shared by the process, for reading only."""
    return Book(root)
