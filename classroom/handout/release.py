"""Make the students' zip: exercise notebooks, pinned requirements, public checks and a handout.

The ``fxbook`` folder is beside the notebooks because JupyterLab, VS Code and a hub start a kernel in the notebook's
folder. So ``from fxbook import check`` finds it whatever is installed.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import symtable
import unicodedata
import zipfile
from collections.abc import Mapping
from pathlib import Path

from nbformat import NotebookNode

from classroom.assignment import Assignment
from classroom.handout import leaks, pins
from classroom.handout import page as handout
from press import ROOT
from press.book import the_book
from press.manuscript.problems import PressError
from press.manuscript.sheet import ExerciseSheet
from press.printing.derive import Derived
from press.printing.freshness import derive_as_stored, stale
from press.stored import load, serialised

# The earliest date of the zip format. A fixed date makes the bytes reproducible.
_MOMENT = (1980, 1, 1, 0, 0, 0)
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\.\./(?:chapters|solutions)/[^)\s]*\)")
_CELL_OF = re.compile(r"-(?:task|code|help)(?:-\d+)?$")
_TO_SOLUTIONS = "solutions"


class ReleaseError(Exception):
    """An assignment that cannot be handed out; the message says what to do."""


def make(assignment: Assignment, out: Path, *, force: bool = False) -> Path:
    """Write the zip of an assignment, with reproducible bytes.

    Returns:
        The zip.

    Raises:
        ReleaseError: it exists already or cannot be written, a notebook is not as generated, an exercise needs one that
            is left out, or something in it must not be handed out. In these cases, nothing is written.
    """
    refuse_existing(out, force)
    packed = files(assignment)
    if leaked := leaks.find(packed, assignment.hidden):
        listing = "\n".join(f"  {leak}" for leak in leaked[:5])
        raise ReleaseError(f"This would hand out what students must not see, so nothing was written:\n{listing}")
    write_zip(out, packed, f"{folder_name(assignment)}/", force=force)
    return out


def files(assignment: Assignment) -> dict[str, bytes]:
    """The contents of the zip by name, without the top folder.

    Raises:
        ReleaseError: as for :func:`make`.
    """
    if not assignment.exercises:
        raise ReleaseError("The assignment has no exercise: leave out fewer.")
    texts = {
        "README.md": _readme(assignment),
        "handout.html": handout.as_html(assignment),
        "handout.md": handout.as_markdown(assignment),
        "requirements.txt": "\n".join([_PINS_HEADER, *pins.needed("lab", *pins.extras_of(assignment.chapters))]) + "\n",
    }
    for chapter in assignment.chapters:
        texts[f"exercises/{chapter}.ipynb"] = serialised(notebook(assignment, chapter))
    contents = {name: text.encode() for name, text in texts.items()}
    library = ROOT / "fxbook"
    for path in sorted(path for path in library.rglob("*") if path.is_file()):
        inside = path.relative_to(library)
        # Checks from other chapters reveal what those exercises expect, so they are left out.
        is_of_another = inside.parts[0] == "tasks" and inside.parts[1] not in (*assignment.chapters, "__init__.py")
        if leaks.belongs(f"{leaks.LIBRARY}{inside.as_posix()}") and not is_of_another:
            contents[f"{leaks.LIBRARY}{inside.as_posix()}"] = path.read_bytes()
    return dict(sorted(contents.items()))


def notebook(assignment: Assignment, chapter: str) -> NotebookNode:
    """The generated exercise notebook of a chapter, without exercises that the assignment leaves out.

    Links to pages that are not handed out are replaced by their text.

    Raises:
        ReleaseError: the notebook is not as generated, or an exercise needs one that is left out.
    """
    book = the_book(ROOT)
    source = ROOT / "fxbook" / "tasks" / chapter
    if source not in book.sheet_folders:
        raise ReleaseError(f"{source} is missing: exercises are handed out from a checkout of the book.")
    try:
        sheet = book.sheet(source)
        derived = next(printed for printed in derive_as_stored(book, source) if not printed.executed)
    except PressError as error:
        raise ReleaseError(f"The manuscript of these exercises has a mistake:\n{error}") from error
    _refuse_changed(derived)
    ids = {about.id for about in assignment.exercises}
    _check_dependencies(sheet, ids)
    released = derived.notebook
    released.cells = [cell for cell in released.cells if _is_handed_out(cell.id, derived.exercise_ids, ids)]
    for cell in released.cells:
        if cell.cell_type == "markdown":
            cell.source = _LINK.sub(r"“\1”", cell.source)
    return released


def _is_handed_out(cell: str, exercises: tuple[str, ...], ids: set[str]) -> bool:
    exercise = _CELL_OF.sub("", cell)
    return cell != _TO_SOLUTIONS and (exercise not in exercises or exercise in ids)


def _refuse_changed(derived: Derived) -> None:
    if problem := stale(derived, load(derived.path)):
        name = f"exercises/{derived.path.name}"
        cure = f"restore it with `git checkout -- {name}`, or generate it again with `make notebooks`."
        raise ReleaseError(f"{name} differs from the book ({problem.message.partition(': run')[0]}): {cure}")


def _check_dependencies(sheet: ExerciseSheet, ids: set[str]) -> None:
    """Refuse to leave out an exercise whose answer another exercise uses."""
    maker_of: dict[str, str] = {}
    for exercise in sheet.exercises:
        tables = [symtable.symtable(cell.source, exercise.id, "exec") for cell in (*exercise.stub, *exercise.solution)]
        for name in sorted(set().union(*map(_used, tables))) if exercise.id in ids else ():
            first = maker_of.get(name, exercise.id)
            if first not in ids:
                cure = "leave out both or neither"
                raise ReleaseError(f"{exercise.id} uses `{name}` from {first}, which is left out: {cure}.")
        given = (symbol for table in tables for symbol in table.get_symbols())
        maker_of |= {symbol.get_name(): exercise.id for symbol in given if symbol.is_assigned() or symbol.is_imported()}


def _used(table: symtable.SymbolTable) -> set[str]:
    """The names that code reads but does not define."""
    whole = table.get_type() == "module"
    used = [symbol for symbol in table.get_symbols() if symbol.is_referenced()]
    outside = {symbol.get_name() for symbol in used if (not symbol.is_assigned() if whole else symbol.is_global())}
    return outside.union(*map(_used, table.get_children()))


def folder_name(assignment: Assignment) -> str:
    """The top folder of the zip: the title in characters that every system accepts."""
    plain = unicodedata.normalize("NFKD", assignment.title).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-")
    numbers = "-".join(chapter[:2] for chapter in assignment.chapters)
    return name or f"exercises-{numbers}"


def refuse_existing(out: Path, force: bool) -> None:
    """Refuse to overwrite an existing file.

    Raises:
        ReleaseError: the file exists already, or is a folder.
    """
    if out.is_dir():
        raise ReleaseError(f"{out} is a folder: name the zip to write, {out / 'week2.zip'} for example.")
    if out.exists() and not force:
        raise ReleaseError(f"{out} exists already: add --force to replace it, or choose another name.")


def write_zip(out: Path, packed: Mapping[str, bytes], prefix: str, *, force: bool = False) -> None:
    """Write a zip atomically, with reproducible bytes.

    Args:
        prefix: prepended to each name: a top folder and ``/``.

    Raises:
        ReleaseError: it exists already, or cannot be written.
    """
    refuse_existing(out, force)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(packed.items()):
            entry = zipfile.ZipInfo(f"{prefix}{name}", _MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    draft = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(buffer.getvalue())
        draft.replace(out)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise ReleaseError(f"{out} cannot be written ({error.strerror or error}): choose another folder.") from error


_PINS_HEADER = (
    "# The versions that the notebooks were tested with. In this folder: python -m pip install -r requirements.txt"
)
_README = """\
# {title}

`handout.html` describes the assignment on one page; `handout.md` is the same as text.

## Set up

You need Python 3.11 or newer. Open a terminal in this folder and create an environment:

```sh
python3 -m venv .venv
. .venv/bin/activate
python -m pip install -r requirements.txt
```

On Windows, in PowerShell:

```powershell
py -m venv .venv
.venv\\Scripts\\Activate.ps1
python -m pip install -r requirements.txt
```

This needs a network connection once; everything else works offline. On a Mac, torch needs macOS 14 and an Apple
processor. On Linux, the ordinary torch package comes with the CUDA libraries. The exercises need no graphics card: to
save gigabytes, install torch from PyTorch's CPU index first, as its site describes, in the version given in
`requirements.txt`.
On a hub that your teacher has set up, skip this part.

## Work

- In JupyterLab: run `jupyter lab` in this folder and open a notebook in `exercises/`.
- In VS Code: open this folder, open a notebook in `exercises/`, and choose the kernel `.venv`.

Leave the folder `exercises/fxbook` beside the notebooks: it holds the public checks, which the first cell imports.
Changing it only affects what you see; the grader has its own copy. On a hub it may be missing, because the checks are
installed there.

Each exercise fails until you solve it. Replace the body of its function, run the cell and then the `check(…)`
below it, until it says `solved`.

## Hand in

Hand in the notebooks under their own names: {notebooks}.
"""


def _readme(assignment: Assignment) -> str:
    notebooks = ", ".join(f"`{chapter}.ipynb`" for chapter in assignment.chapters)
    return _README.format(title=" ".join(assignment.title.split()) or "Exercises", notebooks=notebooks)
