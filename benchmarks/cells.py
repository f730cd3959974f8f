"""Execute the code cells of notebooks in one process: ``python benchmarks/cells.py NOTEBOOK…``.

This is a lower bound on the cost of proving them: there is no kernel, no message and no comparison, and torch's lazy
imports happen only once.
"""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import os
import sys
import types
from pathlib import Path
from typing import Any

import nbformat
import torch


def execute(notebook: Path) -> None:
    """Run the cells in order, each as a kernel would: the value of the last expression is shown."""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    os.chdir(notebook.parent)
    for place, cell in enumerate(nbformat.read(notebook, 4).cells):
        if cell.cell_type == "code":
            name = f"<{notebook.name}, cell {place}>"
            linecache.cache[name] = (len(cell.source), None, cell.source.splitlines(keepends=True), name)
            # Assertions about the process itself may fail here.
            with contextlib.suppress(AssertionError), contextlib.redirect_stdout(io.StringIO()):
                _execute_cell(cell.source, name, vars(main))
    torch.set_grad_enabled(True)


def _execute_cell(source: str, name: str, names: dict[str, Any]) -> None:
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), name, "eval"), names)
        repr(value)
        if hasattr(value, "_repr_html_"):
            value._repr_html_()


if __name__ == "__main__":
    for path in [Path(argument).resolve() for argument in sys.argv[1:]]:
        execute(path)
