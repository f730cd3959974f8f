"""Read a learner's sheet of exercises, a notebook or a script in percent format, and find the answers in it by name.

What was done to the sheet does not matter: cells may be added, deleted, doubled or moved, hold magics, or raise. An
answer is what its name stands for after the last cell that defines it.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import io
import linecache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fxbook.exercises import About

if TYPE_CHECKING:
    from fxbook.checks.exercise import Exercise

JSON = Any
_ASKS = {"check", "hint"}


class SheetError(Exception):
    """A sheet that cannot be used; the message says why and what to do."""


@dataclasses.dataclass(frozen=True)
class Sheet:
    """The code cells of a sheet in their order, with magics and shell lines commented out."""

    path: Path
    cells: tuple[str, ...]

    def needed_for(self, name: str) -> list[tuple[int, str]]:
        """The cells to run for the answer of that name, with their numbers, counted from 1: up to its last definition.

        Cells that only check or ask for a hint are left out. A name that no cell defines needs them all.
        """
        home = max((i for i, cell in enumerate(self.cells) if name in _defined(cell)), default=len(self.cells) - 1)
        return [(i + 1, cell) for i, cell in enumerate(self.cells[: home + 1]) if not _only_asks(cell)]


def newest(folder: Path, chapter: str) -> Path:
    """The sheet of a chapter that was saved last: its notebook or the script beside it.

    Raises:
        SheetError: there is neither.
    """
    found = [path for suffix in (".ipynb", ".py") if (path := folder / f"{chapter}{suffix}").is_file()]
    if not found:
        raise SheetError(f"There is no {chapter}.ipynb in {folder}: copy the notebook of the book there.")
    return max(found, key=lambda path: path.stat().st_mtime_ns)


def read(path: Path) -> Sheet:
    """The sheet in a notebook (any version of the format) or a percent script.

    Raises:
        SheetError: it is not a notebook, is damaged, or is not text.
    """
    import jupytext  # Reading the name of an exercise needs no notebook.
    import nbformat
    from jupytext.magics import comment_magic

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SheetError(f"{path.name} cannot be read ({error}).") from error
    try:
        is_notebook = path.suffix == ".ipynb"
        notebook = nbformat.reads(text, as_version=4) if is_notebook else jupytext.reads(text, fmt="py:percent")
        sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        return Sheet(path, tuple("\n".join(comment_magic(source.splitlines())) for source in sources))
    except Exception as error:
        # A damaged file fails in the reader in as many ways as there are damages.
        said = str(error).strip().splitlines()
        reason = f"{type(error).__name__}: {said[0][:120]}" if said else type(error).__name__
        raise SheetError(
            f"{path.name} is not a notebook that can be read ({reason}). Save it again, or copy it anew from the book "
            "and put your functions in; the other sheets and your progress are not touched."
        ) from error


def write_script(notebook: Path) -> Path:
    """Write the notebook as a script in percent format beside it.

    Raises:
        SheetError: the script is there already, or the notebook cannot be read.
    """
    import jupytext

    script = notebook.with_suffix(".py")
    if script.exists():
        raise SheetError(f"{script.name} is there already: it is used once you save it after the notebook.")
    read(notebook)
    jupytext.write(jupytext.read(notebook), script, fmt="py:percent")
    return script


def observe_answer(sheet: Sheet, exercise: Exercise, about: About, seed: int, seconds: float | None = None) -> JSON:
    """Run the cells that the answer needs, then observe the answer; belongs in a child process or a sandbox.

    Args:
        sheet: the learner's sheet.
        exercise: how the answer is used.
        about: the exercise; its ``answer`` is the name to look for.
        seed: chooses weights and inputs; the judge needs the same.
        seconds: soft limit on using the answer.

    Returns:
        ``{"failed": [{"cell", "type", "message", "line"}], "observation"}``: what cells raised, and what was observed,
        ``None`` where no cell defines the name. All of it is JSON.
    """
    from fxbook.checking.observe import observe

    names: dict[str, Any] = {"__name__": "__main__"}
    failed = []
    for number, source in sheet.needed_for(about.answer):
        if error := _run(source, f"<cell {number} of {sheet.path.name}>", names):
            failed.append({"cell": number, **error})
    observation = observe(exercise, names[about.answer], seed, seconds) if about.answer in names else None
    return {"failed": failed, "observation": observation}


def _run(source: str, filename: str, names: dict[str, Any]) -> JSON | None:
    """Run a cell; what it raised, described, or ``None``."""
    from fxbook.checking.blame import describe

    # So that a report can quote the learner's line.
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(compile(source, filename, "exec"), names)
        except BaseException as error:
            return {key: value for key, value in describe(error).items() if key != "number"}
    return None


def _defined(source: str) -> set[str]:
    """The names that a cell binds at its top level; of a cell that is not valid Python, those its text begins to."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        words = [line.split("(")[0].split(":")[0].split() for line in source.splitlines() if line[:1].strip()]
        return {line[1] for line in words if len(line) == 2 and line[0] in ("def", "class")}
    found: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(statement.name)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in statement.names}
        else:
            bound = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            found |= {node.id for node in bound if isinstance(node.ctx, ast.Store)}
    return found


def _only_asks(source: str) -> bool:
    """Whether a cell holds nothing but checks and hints."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        return False
    return all(
        isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and getattr(one.value.func, "id", "") in _ASKS
        for one in statements
    )
