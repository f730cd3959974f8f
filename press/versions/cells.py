"""Run every cell of a notebook with another version of torch, even after one that fails."""

from __future__ import annotations

import ast
import copy
import dataclasses
import itertools
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode, v4

from fxbook.checking import SEED_VARIABLE
from fxbook.learning.cells import names
from press import ROOT
from press.manuscript.reading import anchor
from press.printing import warm
from press.printing.execution import NOTEBOOK_SEED, NOTEBOOK_VARIABLE
from press.printing.kernels import own_socket
from press.versions.outputs import Shown, differ, kind, shown
from press.versions.record import BEHAVIOUR, FOLLOWS

CELL_TIMEOUT = 600
_IGNORED = "nbval-ignore-output"
# The line of the cell that raised, in an IPython traceback.
_LINE = re.compile(r"Cell In\[\d+\], line (\d+)|<cell line: (\d+)>")
_HEADING = re.compile(r"^#{2,4} +(.+?) *$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")


@dataclasses.dataclass(frozen=True)
class Difference:
    """A cell whose output on another version differs from the book's.

    Attributes:
        section: the page, relative to ``chapters/``, and the anchor of the heading above the cell.
        begins: its first line.
        printed: what the book shows.
        here: what the cell shows on the other version.
        reads_lost: whether it uses a name from an earlier cell that failed or differed.
    """

    notebook: str
    section: str
    begins: str
    printed: Shown
    here: Shown
    kind: str
    reads_lost: bool = False


async def differences(path: Path, name: str, notebook: NotebookNode) -> tuple[int, list[Difference]]:
    """Run a notebook in the folder of ``path``; return how many cells ran, and those that differ."""
    ran = 0
    found: list[Difference] = []
    lost: set[str] = set()
    sections = _sections(name.removeprefix("chapters/"), notebook)
    async for cell, here in _run(path, notebook):
        ran += 1
        printed = shown(cell.outputs)
        of_cell = names(cell.source)
        reads_lost = bool(of_cell.used & lost)
        if differ(printed, here, _IGNORED in cell.metadata.get("tags", ())):
            what = kind(printed, here, lost)
            begins = cell.source.strip().splitlines()[0]
            found.append(Difference(name, sections[cell.id], begins, printed, here, what, reads_lost))
            lost |= of_cell.given if what in (BEHAVIOUR, FOLLOWS) else set()
        elif not reads_lost:
            lost -= of_cell.given
    return ran, found


def _sections(page: str, notebook: NotebookNode) -> dict[str, str]:
    sections, at = {}, page
    for cell in notebook.cells:
        headings = _HEADING.findall(cell.source) if cell.cell_type == "markdown" else ()
        at = f"{page}#{anchor(headings[-1])}" if headings else at
        sections[cell.id] = at
    return sections


async def _run(path: Path, notebook: NotebookNode) -> AsyncIterator[tuple[NotebookNode, Shown]]:
    mine = copy.deepcopy(notebook)
    client = NotebookClient(
        mine,
        timeout=CELL_TIMEOUT,
        interrupt_on_timeout=True,
        allow_errors=True,
        kernel_name=warm.NAME,
        config=own_socket(),
        resources={"metadata": {"path": str(path.parent)}},
    )
    # Use the code in this checkout, not what was installed when the environment was made.
    here = {NOTEBOOK_VARIABLE: str(path), SEED_VARIABLE: str(NOTEBOOK_SEED), "PYTHONPATH": str(ROOT)}
    environment = {**os.environ, **here}
    dead = ""
    async with client.async_setup_kernel(env=environment):
        for number, (cell, printed) in enumerate(zip(mine.cells, notebook.cells, strict=True)):
            if cell.cell_type != "code":
                continue
            cell.outputs = []
            if not dead:
                try:
                    await client.async_execute_cell(cell, number)
                    for rest in _rest(cell):
                        await client.async_execute_cell(v4.new_code_cell(rest), number, store_history=False)
                except (CellTimeoutError, DeadKernelError) as error:
                    dead = f"{type(error).__name__}: the kernel did not respond"
            if dead:
                cell.outputs = [v4.new_output("error", ename="KernelError", evalue=dead)]
            yield printed, shown(cell.outputs)


def _rest(cell: NotebookNode) -> list[str]:
    """The statements after the one that raised, for the names that later cells need.

    An import that failed is split, so that each of its names is imported separately if possible.
    """
    errors = [output for output in cell.outputs if output.output_type == "error"]
    if not errors:
        return []
    lines = [match for line in errors[0].traceback for match in _LINE.finditer(_COLOUR.sub("", line))]
    try:
        statements = ast.parse(cell.source).body
    except SyntaxError:
        return []
    at = int(lines[0][1] or lines[0][2]) if lines else len(cell.source)
    failed = [statement for statement in statements if statement.lineno <= at <= (statement.end_lineno or at)]
    following = [statement for statement in statements if statement.lineno > at]
    return [ast.unparse(one) for one in (*itertools.chain.from_iterable(map(_singly, failed)), *following)]


def _singly(statement: ast.stmt) -> list[ast.stmt]:
    if isinstance(statement, ast.ImportFrom) and len(statement.names) > 1:
        return [ast.ImportFrom(statement.module, [name], statement.level) for name in statement.names]
    return []
