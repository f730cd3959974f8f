"""Make a folder for a new exercise, complete with a failing stub, a passing solution, and answers to test the check.

It is copied from ``press/template/``, a small exercise; docs/authoring.md shows its task.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from fxbook.catalogue import numbered
from press import ROOT
from press.book import Book
from press.manuscript.problems import PressError, Problem
from press.manuscript.sheet import CHECKED_BY, OPENING, ORDER, TASK, TITLE

TEMPLATE = Path(__file__).parent / "template"
FILES = (TASK, *CHECKED_BY)
_IDENTITY = re.compile(r"[0-9P]\d(-[a-z0-9]+)+")
_FILL_IN = {
    "task.md": "the task, the stub and the solution between their markers, two hints, why, and what if",
    "cases.py": "the models that an answer is tried on, one of them unseen, and how the answer is used",
    "check.py": "the rules; the first one that an answer violates is reported",
    "answers.py": "four right answers that differ in kind from yours, and a wrong one for each rule and each clause",
}
_INIT = '"""Exercises of {numbered}."""\n\nORDER = ()\n'
_OPENING = """\
{title}{heading}

They belong to [{heading}](../chapters/{chapter}.ipynb). Run the first cell, then replace the body of each
function and run the check below it.

```{{code-cell}} ipython3
import torch
from torch import fx, nn

from fxbook import check, draw, hint
```
"""


def make(book: Book, identity: str) -> Path:
    """Make a folder for an exercise, and append the exercise to its chapter's order.

    Raises:
        PressError: the id is malformed or taken, or there is no such chapter.
    """
    tasks = book.root / "fxbook" / "tasks"
    if not _IDENTITY.fullmatch(identity):
        raise PressError(Problem(tasks, 1, f"{identity!r} is not an exercise id: write 03-words-in-lower-case"))
    number, _, slug = identity.partition("-")
    chapter = next((name for name in (*book.chapters, *book.projects) if name.startswith(f"{number}_")), None)
    if chapter is None:
        place = book.root / "book" / "chapters"
        raise PressError(Problem(place, 1, f"there is no chapter {number}: write {place.name}/{number}_name.md first"))
    sheet = tasks / chapter
    folder = sheet / slug.replace("-", "_")
    if folder.exists() and any(folder.glob("*.*")):
        raise PressError(Problem(folder, 1, f"exists already: choose an id other than {identity}"))
    headings = list(book.headings(chapter).items())
    if not (sheet / ORDER).is_file():
        sheet.mkdir(parents=True, exist_ok=True)
        (sheet / ORDER).write_text(_INIT.format(numbered=numbered(number)), encoding="utf-8")
        opening = _OPENING.format(title=TITLE, heading=headings[0][1], chapter=chapter)
        (sheet / OPENING).write_text(opening, encoding="utf-8")
    anchor = headings[min(1, len(headings) - 1)][0]
    words = {"IDENTITY": identity, "TITLE": slug.replace("-", " ").capitalize(), "PLACE": f"{chapter}#{anchor}"}
    folder.mkdir(exist_ok=True)
    for name in FILES:
        text = (TEMPLATE / name).read_text(encoding="utf-8")
        (folder / name).write_text(filled(text, words), encoding="utf-8")
    _list_last(sheet / ORDER, folder.name)
    return folder


def filled(text: str, words: dict[str, str]) -> str:
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text


def _list_last(path: Path, slug: str) -> None:
    order = (*runpy.run_path(str(path))["ORDER"], slug)
    listed = "".join(f'    "{name}",\n' for name in order)
    text = re.sub(r"^ORDER = \(.*?\)", f"ORDER = (\n{listed})", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    path.write_text(text, encoding="utf-8")


def print_next_steps(folder: Path) -> None:
    print(f"{folder.relative_to(ROOT)} contains a small exercise that runs. Put yours in its place:")
    for name in FILES:
        print(f"  {name:<12} {_FILL_IN[name]}")
    identity = f"{folder.parent.name[:2]}-{folder.name.replace('_', '-')}"
    print(f"It is last in ORDER in {(folder.parent / ORDER).relative_to(ROOT)}: move it to where it belongs. Then:")
    print("  make notebooks")
    print(f"  python -m pytest tests/checking -k {identity}")
    print(f"  python -m tests.mutation {identity}")
