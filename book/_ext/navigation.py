"""Build the sidebar and the links to the previous and next page.

A local Sphinx extension, named in `_config.yml`; `_toc.yml` has the contents. The reading order goes from a chapter to
its exercises and on to the next chapter. *When it breaks*, the solutions and the page for teachers are not in this
order: from them, *previous* leads to the page to which they belong and *next* to the page after that in the order, so
that no reader sees an answer by accident.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

# The beginnings of pages that are not in the reading order.
_BESIDE = ("chapters/when_it_breaks/", "solutions/", "book/teaching")
_EXERCISES = "exercises/"
_NUMBER = re.compile(r"([0-9P]\d) · (.+)")


@dataclasses.dataclass(frozen=True)
class Entry:
    """A row of the sidebar: a page with its number, title, child rows, and the ids of its exercises."""

    page: str
    number: str
    title: str
    inside: tuple[Entry, ...] = ()
    exercises: tuple[str, ...] = ()

    def holds(self, page: str) -> bool:
        """Whether the row or one of its child rows is the page."""
        return page == self.page or any(entry.holds(page) for entry in self.inside)

    def pages(self) -> Iterator[str]:
        """The pages of the row and of its child rows, in order."""
        yield self.page
        for entry in self.inside:
            yield from entry.pages()


@dataclasses.dataclass(frozen=True)
class Neighbours:
    """The pages before and after a page; ``None`` at the ends."""

    before: str | None
    after: str | None


def neighbours(pages: list[str]) -> dict[str, Neighbours]:
    """The neighbours of each page; ``pages`` are all pages, in the order of the table of contents."""
    line = [page for page in pages if not page.startswith(_BESIDE)]
    found = {}
    for place, page in enumerate(pages):
        later = (other for other in pages[place + 1 :] if other in line)
        if page in line:
            at = line.index(page)
            found[page] = Neighbours(line[at - 1] if at else None, next(later, None))
        else:
            found[page] = Neighbours(
                _belongs_to(page, [other for other in pages[:place] if other in line]), next(later, None)
            )
    return found


def _belongs_to(page: str, earlier: list[str]) -> str | None:
    """The earlier page to which a page belongs: the exercises for solutions, the chapter for *When it breaks*."""
    chapter = page.rpartition("/")[2]
    same = [other for other in earlier if other.endswith(f"/{chapter}")]
    wanted = [other for other in same if other.startswith(_EXERCISES) == page.startswith("solutions/")]
    return (wanted or same or earlier or [None])[-1]


def exercises_of(source: Path) -> dict[str, tuple[str, ...]]:
    """The ids of the exercises by chapter, from the index that is generated for `fxbook`."""
    index: Mapping[str, Mapping[str, str]] = json.loads(source.read_text("utf-8")) if source.is_file() else {}
    found: dict[str, list[str]] = collections.defaultdict(list)
    for name, about in index.items():
        found[about["chapter"]].append(name)
    return {chapter: tuple(names) for chapter, names in found.items()}


class Contents:
    """The table of contents with the titles of pages."""

    def __init__(self, app: Sphinx, env: BuildEnvironment) -> None:
        self._map = app.config.external_site_map
        self._titles = {page: title.astext() for page, title in env.titles.items()}
        self._exercises = exercises_of(Path(app.srcdir) / "fxbook" / "exercises.json")
        root = self._map.root
        self.root = root.docname
        self.parts = [(tree.caption or "", [self._entry(page) for page in tree.files()]) for tree in root.subtrees]
        pages = [page for _, entries in self.parts for entry in entries for page in entry.pages()]
        self.neighbours = neighbours([self.root, *pages])
        self.exercises = sum(len(names) for names in self._exercises.values())

    def title(self, page: str) -> str:
        return self._titles.get(page, page)

    def _entry(self, page: str) -> Entry:
        found = self._map.get(page)
        title = (found.title if found else None) or self.title(page)
        numbered = _NUMBER.fullmatch(title)
        number, title = (numbered[1], numbered[2]) if numbered else ("", title)
        # The title of a child row need not repeat its parent's.
        inside = tuple(self._short(self._entry(child), title) for child in (found.child_files() if found else ()))
        ids = self._exercises.get(page.removeprefix(_EXERCISES), ()) if page.startswith(_EXERCISES) else ()
        return Entry(page, number, title, inside, ids)

    @staticmethod
    def _short(entry: Entry, above: str) -> Entry:
        title = entry.title.removeprefix(f"{above}: ")
        return dataclasses.replace(entry, title=title[:1].upper() + title[1:])


def _find_way(app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None) -> None:
    contents = getattr(app, "fx_contents", None)
    if contents is None:
        contents = app.fx_contents = Contents(app, app.env)
    context["fx_contents"] = contents
    if found := contents.neighbours.get(page):
        for key, other in (("prev", found.before), ("next", found.after)):
            context[key] = {"link": context["pathto"](other), "title": contents.title(other)} if other else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _find_way)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
