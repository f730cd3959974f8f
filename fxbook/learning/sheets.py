"""Read a learner's sheet of exercises, a notebook or a script in percent format, and find the answers in it by name.

Cells may have been added, deleted, duplicated or moved, contain magics, or raise errors. An answer is the value of its
name after the last cell that defines it. If a name that it needs is defined only in a later cell, that cell is also
run, as it was when the learner tried the answer in the notebook.
"""

from __future__ import annotations

import ast
import codecs
import contextlib
import dataclasses
import io
import json
import linecache
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fxbook.learning.cells import names, parsed
from fxbook.learning.damage import what_is_wrong

if TYPE_CHECKING:
    from fxbook.observing.prepare import Prepared

JSON = Any
_ASKS = {"check", "hint"}


class SheetError(Exception):
    """A sheet that cannot be used; the message tells the learner why and what to do.

    ``reason`` says what is wrong with the file, as a clause that does not name the file: ``"it is empty"``.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


@dataclasses.dataclass(frozen=True)
class Sheet:
    path: Path
    cells: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path.name

    def homes(self, name: str) -> list[int]:
        return [number for number, cell in enumerate(self.cells, 1) if name in names(cell).given]

    def needed_for(self, name: str) -> list[tuple[int, str]]:
        """The cells to run for the answer with that name, with their numbers, counted from 1, in the order to run them.

        These are the cells up to its last definition, in order. A later cell is included only if one of them needs a
        name that no other cell defines; it then runs before the cell that needs it. Cells that only check or ask for a
        hint are left out. If no cell defines the name, all cells are run.
        """
        home = max(self.homes(name), default=len(self.cells))
        above = set().union(*(names(cell).given for cell in self.cells[:home]))
        below = {name: number for number in range(home + 1, len(self.cells) + 1) for name in self.given(number)}
        order: list[int] = []
        waiting: set[int] = set()

        def place(number: int) -> None:
            if number in waiting or _only_asks(self.cells[number - 1]):
                return
            waiting.add(number)
            for needed in sorted(names(self.cells[number - 1]).used - above & below.keys()):
                place(below[needed])
            order.append(number)

        for number in range(1, home + 1):
            place(number)
        return [(number, self.cells[number - 1]) for number in order]

    def only_for(self, name: str) -> Sheet:
        """The sheet with only the cells whose names the answer uses, directly or through others; the rest blank.

        If several cells define a name, the last one above the cell that uses it counts, else the last one below. This
        is a fallback for a sheet in which a cell that the answer does not need hangs or ends the process.
        """
        homes = self.homes(name)
        kept: set[int] = set()
        waiting = homes[-1:]
        while waiting:
            number = waiting.pop()
            if number not in kept:
                kept.add(number)
                needed = (self._giver(used, number) for used in names(self.cells[number - 1]).used)
                waiting += [giver for giver in needed if giver]
        if kept:
            kept |= {number for number in range(1, homes[-1]) if "*" in self.given(number)}
        cells = (cell if number in kept else "" for number, cell in enumerate(self.cells, 1))
        return dataclasses.replace(self, cells=tuple(cells))

    def given(self, number: int) -> frozenset[str]:
        return names(self.cells[number - 1]).given

    def _giver(self, name: str, user: int) -> int | None:
        homes = [number for number in self.homes(name) if number != user]
        above = [number for number in homes if number < user]
        return (above or homes or [None])[-1]


def newest(folder: Path, chapter: str) -> Path:
    """A chapter's notebook or script, whichever was saved last. Raises SheetError if there is neither."""
    found = [path for suffix in (".ipynb", ".py") if (path := folder / f"{chapter}{suffix}").is_file()]
    if not found:
        raise SheetError(f"There is no {chapter}.ipynb in {folder}: copy the book's notebook there.")
    return max(found, key=lambda path: path.stat().st_mtime_ns)


def read(path: Path) -> Sheet:
    """Read a notebook (any version of the format) or a percent script; raises SheetError if it is neither."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SheetError(f"{path.name} cannot be read ({error}).") from error
    return dataclasses.replace(parse(path.name, data), path=path)


def parse(name: str, data: bytes) -> Sheet:
    """Parse a file in UTF-8, or in UTF-16 with a byte order mark: a notebook, whatever its name, or a script.

    Raises:
        SheetError: it is not a notebook, is damaged, or is not text.
    """
    try:
        text = _text(data)
        script = name.endswith(".py") and not text.lstrip().startswith("{")
        notebook = _read_script(text) if script else _read_notebook(text)
        return Sheet(Path(name), tuple(_plain(cell.source) for cell in notebook.cells if cell.cell_type == "code"))
    except Exception as error:
        # The reader raises many kinds of errors on damaged files.
        reason = what_is_wrong(data, error)
        raise SheetError(
            f"{name} is not a notebook that can be read: {reason}. Save it again, or copy it again from the book "
            "and add your functions; your other sheets and your progress are safe.",
            reason,
        ) from error


_LIGHT_FORMAT = re.compile(r"^#\s+format_name: light\s*$", re.MULTILINE)


def _read_script(text: str) -> Any:
    """The notebook in a script in percent format, or in jupytext's light format.

    The rest of the header is turned into a comment, because some header formats start a program, and parsing YAML may
    hang. Code above the first cell becomes a cell.
    """
    import jupytext  # Reading an exercise's name does not need a notebook.

    if _LIGHT_FORMAT.search(text):
        notebook = jupytext.reads(f"\n{text}", fmt="py:light")
    else:
        notebook = jupytext.reads(f"# %%\n{text}", fmt="py:percent")
    if notebook.cells and all(
        line.lstrip()[:1] in ("", "#", "!", "%") for line in notebook.cells[0].source.split("\n")
    ):
        del notebook.cells[0]
    return notebook


def _read_notebook(text: str) -> Any:
    import nbformat

    with warnings.catch_warnings():
        # Older notebooks have cells without ids, or with duplicate ids.
        warnings.simplefilter("ignore")
        told = json.loads(text)
        for part in (told, *told.get("cells", ())):
            part.setdefault("metadata", {})
        return nbformat.reads(json.dumps(told), as_version=4)


def _text(data: bytes) -> str:
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if wide else "utf-8-sig")


# Cell magics whose cell is still Python.
_PYTHON_MAGICS = {"capture", "debug", "prun", "time", "timeit"}
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_INNER_MAGIC = re.compile(r"^([ \t]+)# (?=[%!])")
_EXPORTED_MAGIC = re.compile(r"^([ \t]*)(get_ipython\(\)\.\w+\(.*\))[ \t]*$", re.MULTILINE)


def _plain(source: str) -> str:
    """The cell as Python: magics, shell lines, help requests (``?``) and cells in other languages become comments."""
    from jupytext.magics import comment_magic

    if parsed(source) is not None:
        # Within strings and multi-line expressions, a line may look like a magic. In an exported script, magics are
        # calls.
        return _EXPORTED_MAGIC.sub(r"\1pass  # \2", source)
    lines = source.splitlines()
    magic = next((_CELL_MAGIC.match(line) for line in lines if line.strip()), None)
    if magic and magic[1] not in _PYTHON_MAGICS:
        return "\n".join(f"# {line}" for line in lines)
    commented = zip(lines, comment_magic(list(lines)), strict=True)
    # A magic may be the only statement of a block.
    return "\n".join(now if now == line else _INNER_MAGIC.sub(r"\1pass  # ", now) for line, now in commented)


def write_script(notebook: Path) -> Path:
    """Write the notebook as a script in percent format next to it.

    Raises:
        SheetError: the script exists, or the notebook cannot be read.
    """
    import jupytext

    script = notebook.with_suffix(".py")
    if script.exists():
        raise SheetError(f"{script.name} exists already: it is used once you save it after the notebook.")
    read(notebook)
    found = _read_notebook(_text(notebook.read_bytes()))
    # The notebook may name another script format.
    found.metadata.pop("jupytext", None)
    jupytext.write(found, script, fmt="py:percent")
    return script


def observe_answer(sheet: Sheet, prepared: Prepared, answer: str, seconds: float = 0.0) -> JSON:
    """Run the cells that the answer needs, then observe the answer; call this only in a child process or a sandbox.

    Returns:
        ``{"failed": [{"cell", "type", "message", "line"}], "observation"}`` as JSON: the errors that cells raised, and
        the observation, or ``None`` if no cell defines the name.
    """
    from fxbook.observing.observe import observe

    space: dict[str, Any] = {"__name__": "__main__"}
    failed = []
    for number, source in sheet.needed_for(answer):
        if error := _run(source, f"<cell {number} of {sheet.path.name}>", space):
            failed.append({"cell": number, **error})
    if answer not in space:
        return {"failed": failed, "observation": None}
    return {"failed": failed, "observation": observe(prepared, space[answer], seconds)}


def _run(source: str, filename: str, space: dict[str, Any]) -> JSON | None:
    from fxbook.observing.blame import describe

    # This lets a report quote the learner's line.
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(compile(source, filename, "exec"), space)
        except BaseException as error:
            return {key: value for key, value in describe(error).items() if key != "number"}
    return None


def _only_asks(source: str) -> bool:
    found = parsed(source)
    return found is not None and all(
        isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and getattr(one.value.func, "id", "") in _ASKS
        for one in found[0].body
    )
