"""Run a notebook in a fresh kernel and keep its outputs in a canonical form: running it again gives the same bytes."""

from __future__ import annotations

import copy
import os
import re

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from fxbook.checking import SEED_VARIABLE
from press.manuscript.problems import PressError
from press.printing.derive import Derived
from press.printing.kernels import own_socket

CELL_TIMEOUT = 600
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_ADDRESS_IN_TABLE = re.compile(rf"({ADDRESS.pattern})(\S*)(?= {{2}})")
# The variable in which Jupyter names the notebook to its kernel; the drawings derive their ids from it.
NOTEBOOK_VARIABLE = "JPY_SESSION_NAME"
# The seed for the reports in generated notebooks; some reports contain random numbers.
NOTEBOOK_SEED = 0


async def execute(derived: Derived) -> NotebookNode:
    """A copy of the notebook with its outputs, from a kernel that starts in the notebook's folder.

    Raises:
        PressError: a cell raises, writes to stderr, takes too long or kills the kernel; the error names its line.
    """
    notebook = copy.deepcopy(derived.notebook)
    derived.path.parent.mkdir(parents=True, exist_ok=True)
    reached = [0]
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        config=own_socket(),
        resources={"metadata": {"path": str(derived.path.parent)}},
        on_cell_start=lambda cell, cell_index: reached.append(cell_index),
    )
    try:
        await client.async_execute(
            env={**os.environ, NOTEBOOK_VARIABLE: str(derived.path), SEED_VARIABLE: str(NOTEBOOK_SEED)}
        )
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise PressError(derived.places[reached[-1]].problem(_why_it_stopped(error))) from error
    notebook.metadata = copy.deepcopy(derived.notebook.metadata)
    problems = []
    count = 0
    for cell, place in zip(notebook.cells, derived.places, strict=True):
        if cell.cell_type == "code":
            count += 1
            canonise(cell, count)
            problems += [
                place.problem(f"the cell writes to stderr: {output.text.strip().splitlines()[-1]}")
                for output in cell.outputs
                if output.get("name") == "stderr"
            ]
    if problems:
        raise PressError(*problems)
    return notebook


def canonise(cell: NotebookNode, count: int) -> None:
    """Change an executed cell to its canonical form: numbered ``count``, streams merged, addresses as ``0x…``."""
    cell.execution_count = count
    cell.metadata.pop("execution", None)
    outputs: list[NotebookNode] = []
    for output in cell.outputs:
        output.pop("transient", None)
        if "execution_count" in output:
            output.execution_count = count
        if "metadata" in output:
            output.metadata = nbformat.from_dict({})
        previous = outputs[-1] if outputs else None
        if output.output_type == "stream" and previous and previous.get("name") == output.name:
            previous.text += output.text
        else:
            outputs.append(output)
    for output in outputs:
        if output.output_type == "stream":
            output.text = without_addresses(output.text)
        for kind, value in output.get("data", {}).items():
            if isinstance(value, str) and not kind.startswith("image/p"):
                output.data[kind] = without_addresses(value)
    cell.outputs = outputs


def without_addresses(text: str) -> str:
    """Replace memory addresses, padded in a table; nbval does the same (``tests/nbval_sanitize.cfg``)."""
    text = _ADDRESS_IN_TABLE.sub(lambda found: f"0x…{found[2]}{' ' * (len(found[1]) - 3)}", text)
    return ADDRESS.sub("0x…", text)


def _why_it_stopped(error: Exception) -> str:
    if isinstance(error, CellExecutionError):
        return f"the cell raises {error.ename}: {error.evalue}"
    if isinstance(error, CellTimeoutError):
        return f"the cell runs for more than {CELL_TIMEOUT} s"
    return "the kernel died in this cell"
