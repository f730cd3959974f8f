"""Rules for generated notebooks that close the gaps of nbval: they reject what it passes or never compares."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from press.manuscript.reading import TAGS, Cell, raw_in_notebooks
from press.printing import package
from press.printing.execution import ADDRESS

# nbval compares text, HTML and SVG, but not these.
UNCOMPARED = ("image/png", "image/jpeg", "image/gif", "application/pdf")
UNRENDERED = ("application/javascript", "application/vnd.jupyter.widget-view+json")
_NBVAL_COMMENT = re.compile(r"^\s*#\s*(?:NBVAL|PYTEST_VALIDATE)_\w+", re.IGNORECASE | re.MULTILINE)
HIDES_OUTPUT = "nbval-ignore-output"
MOST_BYTES_OF_OUTPUT = 200_000
# A notebook with timings prints the smallest and largest ratio of a program timed against itself.
NOISE_FLOOR = re.compile(r"noise floor\D*(?P<low>\d+\.\d+) to (?P<high>\d+\.\d+)")
WIDEST_FLOOR = 1.25


@dataclasses.dataclass(frozen=True)
class Fault:
    cell: int
    message: str


def lint(notebook: NotebookNode, executed: bool) -> list[Fault]:
    """The faults of a generated notebook.

    ``executed`` says whether it must have outputs (a chapter, a solution) or must not (an exercise).
    """
    faults = []
    count = 0
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            count += 1
            found = _code(cell, count) if executed else _unexecuted(cell)
        else:
            found = (message for _, message in raw_in_notebooks(Cell("markdown", cell.source, 1)))
        faults += [Fault(place, message) for message in found]
    return faults + (_noise(notebook) if executed else [])


def _noise(notebook: NotebookNode) -> list[Fault]:
    """A notebook with timings must print how noisy the machine was; too noisy a machine is a fault."""
    timed = [place for place, cell in enumerate(notebook.cells) if HIDES_OUTPUT in cell.metadata.get("tags", [])]
    floors = [
        (place, float(match["low"]), float(match["high"]))
        for place in timed
        for output in notebook.cells[place].get("outputs", ())
        for match in NOISE_FLOOR.finditer(output.get("text", ""))
    ]
    if timed and not floors:
        message = "no cell with a timing prints the noise floor of the machine, such as 'noise floor: 0.97 to 1.03'"
        return [Fault(timed[0], message)]
    fix = "stop other programs on this machine, and generate the notebook again"
    return [
        Fault(place, f"the machine was busy, its noise floor is {low} to {high}: {fix}")
        for place, low, high in floors
        if high > WIDEST_FLOOR * low
    ]


def _unexecuted(cell: NotebookNode) -> Iterator[str]:
    if cell.outputs or cell.execution_count is not None:
        yield "an exercise must have no outputs"


def _code(cell: NotebookNode, count: int) -> Iterator[str]:
    if cell.execution_count != count:
        yield f"its execution count is {cell.execution_count}, not {count}: nbval passes a cell that was never run"
    yield from _hiding(cell)
    if sum(len(str(output)) for output in cell.outputs) > MOST_BYTES_OF_OUTPUT:
        yield f"its output is larger than {MOST_BYTES_OF_OUTPUT} bytes: show less"
    for output in cell.outputs:
        if output.output_type == "error":
            yield f"it raises {output.ename}: assert the error in the cell, with expect_error"
        if output.get("name") == "stderr":
            yield "it writes to stderr: a page shows no warnings"
        texts = {"stream": output.get("text", ""), **output.get("data", {})}
        for kind, text in texts.items():
            if kind in UNCOMPARED:
                yield f"nbval does not compare {kind}: show an SVG"
            if kind in UNRENDERED:
                yield f"{kind} does not work in a page: show HTML"
            if isinstance(text, str) and ADDRESS.search(text):
                yield f"its output holds a memory address: {ADDRESS.search(text)[0]}"  # type: ignore[index]


def _hiding(cell: NotebookNode) -> Iterator[str]:
    if _NBVAL_COMMENT.search(cell.source):
        yield f"a comment tells nbval what to compare: use the tag {HIDES_OUTPUT!r}, which is counted"
    tags = cell.metadata.get("tags", [])
    for tag in tags:
        if tag not in TAGS and cell.id != package.CELL:
            yield f"unknown cell tag {tag!r}: the tags are {', '.join(sorted(TAGS))}"
    if HIDES_OUTPUT in tags and not _asserts(cell.source):
        yield "its output is hidden from nbval, so it must assert the relation that it shows"


def _asserts(source: str) -> bool:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return False
    return any(isinstance(node, ast.Assert) for node in ast.walk(tree))
