"""Find solutions, hidden variants and manuscript markers in the files of a release.

Text is compared token by token, so line breaks and quotes do not matter, in every part of a file: cells, metadata,
outputs, comments. Code is also compared by its syntax tree. A file that does not belong to a release counts as a leak
by its name alone, because compressed or compiled text cannot be searched.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from press import ROOT
from press.book import the_book
from press.manuscript.reading import Cell
from press.printing.derive import METADATA

JSON = Any
LIBRARY = "exercises/fxbook/"
_BELONGS = re.compile(
    r"README\.md|requirements\.txt|handout\.(html|md)|exercises/[0-9P]\d_\w+\.ipynb"
    # Except surgery/relus.py, which is an exercise's answer, and the graph lab, which is a page of the book.
    r"|exercises/fxbook/(?!lab/|surgery/relus\.py)((?!tasks?/|tests?/|answers/|solutions/)[a-z]+/){0,2}\w+\.py"
    r"|exercises/fxbook/tasks/([0-9P]\d_\w+/([a-z]\w*/){0,2}(__init__|cases|check)|__init__)\.py"
    r"|exercises/fxbook/((exercises|sections)\.json|py\.typed)|exercises/fxbook/static/\w+\.(css|js|mplstyle)"
)
_MARKS = re.compile(r"^\W*(#|<!--) *(solution|stub|end)\b|(BEGIN|END) (SOLUTION|HIDDEN TESTS)", re.MULTILINE)
# Ignores `#`, so that code in a comment matches too.
_TOKEN = re.compile(r"\w+|[^\w\s#]")
_ESCAPED = re.compile(r"\\+([nt\"'])")


@dataclasses.dataclass(frozen=True)
class Width:
    """How many consecutive tokens make a leak; for a complete part of a solution, ``least`` are enough."""

    least: int
    tokens: int


# Twelve equal tokens in a task are not an accident. The library needs more, because it reads graphs with the same
# idioms.
LEARNERS = Width(8, 12)
LIBRARYS = Width(14, 36)


@dataclasses.dataclass(frozen=True)
class Leak:
    file: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


def find(files: Mapping[str, bytes], hidden: str = "") -> list[Leak]:
    """Find every leak in the files of a release.

    Args:
        files: content by name, without the top folder.
        hidden: the text of the teacher's hidden variants.
    """
    leaks = []
    for name, data in files.items():
        if not belongs(name):
            leaks.append(Leak(name, "does not belong to a release"))
            continue
        try:
            text = data.decode()
            notebook = json.loads(text) if name.endswith((".ipynb", ".json")) else None
        except ValueError:
            leaks.append(Leak(name, "is not text"))
            continue
        strings = [text] if notebook is None else list(_strings(notebook))
        leaks += [Leak(name, what) for what in dict.fromkeys(_in_strings(strings, name, hidden))]
        if name.endswith(".ipynb"):
            leaks += [Leak(name, what) for what in _beside_the_cells(notebook)]
    return leaks


def belongs(name: str) -> bool:
    return bool(_BELONGS.fullmatch(name))


def _in_strings(strings: list[str], name: str, hidden: str) -> Iterator[str]:
    width = LIBRARYS if name.startswith(LIBRARY) else LEARNERS
    for string in strings:
        if mark := _MARKS.search(string):
            yield f"has the manuscript marker {mark[0].strip()!r}"
        for body in _bodies(string):
            if exercise := _solution_bodies().get(body):
                yield f"has a function from the solution of {exercise}"
    joined = "\n".join(strings)
    for secrets in (_solutions(width), _hidden(hidden, width)):
        if what := secrets.first_in(joined):
            yield what


def _beside_the_cells(notebook: JSON) -> Iterator[str]:
    """Find what a notebook that was never run does not contain: outputs, execution counts, metadata, attachments."""
    if notebook.get("metadata") != METADATA:
        yield "has metadata that no generated exercise has"
    for cell in notebook.get("cells", []):
        if cell.get("outputs") or cell.get("execution_count") is not None:
            yield f"cell {cell.get('id')} was run"
        unknown = set(cell) - {"cell_type", "id", "metadata", "source", "outputs", "execution_count"}
        if unknown or set(cell.get("metadata", {})) - {"tags"}:
            yield f"cell {cell.get('id')} has more than its source"


@dataclasses.dataclass(frozen=True)
class _Secrets:
    """Secret token sequences and their descriptions: ``full`` of the given width, ``short`` for complete shorter
    texts."""

    width: int
    full: Mapping[str, str]
    short: Mapping[str, str]

    def first_in(self, text: str) -> str:
        """The description of the first secret in a text, or ``""``."""
        tokens = _tokens(text)
        for start in range(len(tokens) - self.width + 1):
            if what := self.full.get(" ".join(tokens[start : start + self.width])):
                return what
        whole = f" {' '.join(tokens)} "
        return next((what for run, what in self.short.items() if f" {run} " in whole), "")


def _secrets(runs: Iterable[tuple[str, str]], width: Width, public: str) -> _Secrets:
    full: dict[str, str] = {}
    short: dict[str, str] = {}
    for run, what in runs:
        tokens = _tokens(run)
        if len(tokens) >= width.tokens:
            for start in range(len(tokens) - width.tokens + 1):
                full.setdefault(" ".join(tokens[start : start + width.tokens]), what)
        elif len(tokens) >= width.least:
            short[" ".join(tokens)] = what
    given = f" {' '.join(_tokens(public))} "
    return _Secrets(
        width.tokens,
        {run: what for run, what in full.items() if f" {run} " not in given},
        {run: what for run, what in short.items() if f" {run} " not in given},
    )


@functools.cache
def _handed_out() -> str:
    """The public text of all exercises: openings, questions, tasks, stubs and hints."""
    sheets = the_book().sheets()
    cells = [cell for sheet in sheets for cell in (*sheet.opening, *(c for e in sheet.exercises for c in e.stub))]
    texts = [text for sheet in sheets for e in sheet.exercises for text in (e.task, *e.hints, e.what_if)]
    questions = [question.code for sheet in sheets for question in sheet.questions]
    return "\n".join([*(cell.source for cell in cells), *texts, *questions])


@functools.cache
def _solutions(width: Width) -> _Secrets:
    runs = []
    for sheet in the_book().sheets():
        for exercise in sheet.exercises:
            what = f"contains part of the solution of {exercise.id}"
            runs.append((exercise.why, what))
            for stub, solution in zip(exercise.stub, exercise.solution, strict=True):
                runs += [(run, what) for run in _own_lines(solution, stub)]
    return _secrets(runs, width, _handed_out())


def _own_lines(solution: Cell, stub: Cell) -> list[str]:
    """The runs of solution lines that are not in the stub."""
    given = set(stub.source.splitlines())
    runs: list[list[str]] = [[]]
    for line in solution.source.splitlines():
        if line in given:
            runs.append([])
        else:
            runs[-1].append(line)
    return ["\n".join(run) for run in runs]


@functools.cache
def _hidden(text: str, width: Width) -> _Secrets:
    if not text:
        return _secrets([], width, "")
    # Hidden variants may contain pieces of public text.
    library = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "fxbook").rglob("*.py")))
    return _secrets([(text, "contains part of the hidden variants")], width, library + _handed_out())


@functools.cache
def _solution_bodies() -> dict[str, str]:
    """Map each function body of a solution to its exercise, except bodies that a stub has too."""
    bodies = {
        body: exercise.id
        for sheet in the_book().sheets()
        for exercise in sheet.exercises
        for cell in exercise.solution
        for body in _bodies(cell.source)
    }
    for sheet in the_book().sheets():
        for cell in (*sheet.opening, *(cell for exercise in sheet.exercises for cell in exercise.stub)):
            for body in _bodies(cell.source):
                bodies.pop(body, None)
    return bodies


def _bodies(source: str) -> Iterator[str]:
    """The function bodies of Python text, without names, docstrings and layout."""
    if "def " not in source:
        return
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            has_docstring = ast.get_docstring(function, clean=False) is not None
            yield "\n".join(ast.dump(statement) for statement in function.body[has_docstring:])


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(_ESCAPED.sub(lambda match: {"n": " ", "t": " "}.get(match[1], match[1]), text))


def _strings(data: JSON) -> Iterator[str]:
    """Every string in a JSON document, including keys; a list of lines is one string."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        yield from data
        for value in data.values():
            yield from _strings(value)
    elif isinstance(data, list):
        if data and all(isinstance(item, str) for item in data):
            yield "".join(data) if any("\n" in item for item in data) else "\n".join(data)
        else:
            for item in data:
                yield from _strings(item)
