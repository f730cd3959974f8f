"""The sections whose cells use each name of torch.fx, read from the generated notebooks."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path

from nbformat import NotebookNode

from press.book import COMPANIONS
from press.manuscript.reading import Cell, anchor, prose_lines
from press.pages.api.documented import Name
from press.pages.api.reading import CodeOfNotebook
from press.printing import package

# Added to the score of these sections for any name: they are poor places to read about it.
_WORTH = {"In one page": -4, "Check yourself": -4, "What people get wrong": -3, "When it breaks": -3}
_TITLE, _TAUGHT = -4, 2
_SPAN = re.compile(r"`([^`]+)`")
_LISTED = re.compile(r"fx\.html#(torch\.fx\.[\w.]+)")


@dataclasses.dataclass
class Section:
    """A heading in a notebook, with the code spans in its text and how many of its cells use each name.

    ``page`` is the number of the chapter (also for a companion), or the kind of page in the reference: ``"03"``,
    ``"fact check:"``.
    """

    path: Path
    page: str
    heading: str
    worth: int
    spans: list[str] = dataclasses.field(default_factory=list)
    cells: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    @property
    def address(self) -> str:
        here = self.path.parent.name
        folder = {"chapters": "../", COMPANIONS: f"../{COMPANIONS}/"}.get(here, "")
        return f"{folder}{self.path.name}#{anchor(self.heading)}"

    def score(self, name: Name) -> int:
        """This section's score for a name: whether its cells use it, its text names it, and its heading names it."""
        word = re.compile(rf"(?<!\w){re.escape(name.last)}(?!\w)")
        spoken = sum(bool(word.search(span)) for span in self.spans)
        marked = any(word.search(span) for span in _SPAN.findall(self.heading))
        headed = 4 if marked else 2 if word.search(self.heading) else 0
        return self.worth + min(self.cells[name.full], 3) + min(spoken, 3) + headed


class Uses:
    def __init__(self, notebooks: Mapping[Path, NotebookNode]) -> None:
        self.sections: list[Section] = []
        self._linked = {path: self._add(path, notebook) for path, notebook in notebooks.items()}

    @property
    def used(self) -> set[str]:
        return {full for section in self.sections for full in section.cells}

    def places(self, name: Name, most: int) -> list[Section]:
        """The sections of the chapters that use a name, the best first; if there are none, those of the reference."""
        using = [section for section in self.sections if name.full in section.cells]
        chapters = [section for section in using if section.path.parent.name in ("chapters", COMPANIONS)]
        teacher = self._teacher(name)

        def worth(section: Section) -> int:
            return section.score(name) + _TAUGHT * (section.path == teacher)

        return sorted(chapters or using, key=worth, reverse=True)[:most]

    def _teacher(self, name: Name) -> Path | None:
        """The notebook whose last part links to the official page of a name, or to most members of a class."""
        linked = {
            path: sum(f"{full}.".startswith(f"{name.full}.") for full in every) for path, every in self._linked.items()
        }
        return max((path for path in linked if linked[path]), key=linked.__getitem__, default=None)

    def _add(self, path: Path, notebook: NotebookNode) -> list[str]:
        """Add the sections of a notebook; return the full names that its last part links to."""
        companion = path.parent.name == COMPANIONS
        chapter = companion or path.parent.name == "chapters"
        page = path.stem[:2] if chapter else " ".join(path.stem.split("_")[:2]) + ":"
        apart = _WORTH["When it breaks"] if companion else 0
        section = Section(path, page, path.stem, _TITLE)
        here, cells, linked, part = [section], [], [], ""
        code = CodeOfNotebook(package.python(cell) for cell in notebook.cells if cell.cell_type == "code")
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cells.append(section)
                continue
            for _, line in prose_lines(Cell("markdown", cell.source, 1)):
                linked += _LISTED.findall(line) if part == "In one page" else []
                if match := re.match(r"(#{1,6}) +(.+?) *#*$", line):
                    part = match[2] if match[1] == "##" else part
                    section = Section(path, page, match[2], _TITLE if match[1] == "#" else _WORTH.get(part, apart))
                    here.append(section)
                else:
                    section.spans += _SPAN.findall(line)
        for number, section in enumerate(cells):
            spoken = {word for span in section.spans for word in re.findall(r"\w+", span)}
            uses = code.uses(number)
            section.cells.update({use.full for use in uses if use.sure or use.full.rpartition(".")[2] in spoken})
        self.sections += here
        return linked
