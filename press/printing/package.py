"""Say where a notebook gets `fxbook`, the book's own package, and install it.

The comment above its first import says what to install, for those who copy the cell. Once the book has an address,
every notebook begins its code with a folded cell that installs the package if it is missing, so that the notebook runs
anywhere. Naming the repository thus changes every notebook, and `make notebooks` generates them all again.

An installed torch is not changed. If there is none, the cell also installs the pinned one.
"""

from __future__ import annotations

import dataclasses
import re

from nbformat import NotebookNode

from press.book import Book
from press.imprint import Imprint
from press.manuscript.reading import Cell, Manuscript

# The id of the cell that installs the package.
CELL = "install"
# The cell is folded in JupyterLab, a form in Colab, and left out of the page, which offers to open the notebook
# instead.
FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": ["remove-cell"]}
_INSTALL = """\
# @title Install fxbook, the package of this book, if it is missing
from importlib.util import find_spec

if not (find_spec("fxbook") and find_spec("fxbook.catalogue")):
    extra, home = "" if find_spec("torch") else "[torch]", "{requirement}"
    %pip install --quiet "fxbook{{extra}} @ {{home}}" "fxbook-exercises @ {{home}}#subdirectory=fxbook\""""
# For a notebook with models from transformers, which are in the extra `models`.
_INSTALL_MODELS = """\
# @title Install fxbook, the package of this book, and transformers, if they are missing
from importlib.util import find_spec

if not (find_spec("fxbook") and find_spec("fxbook.catalogue") and find_spec("transformers")):
    extra, home = "models" if find_spec("torch") else "models,torch", "{requirement}"
    %pip install --quiet "fxbook[{{extra}}] @ {{home}}" "fxbook-exercises @ {{home}}#subdirectory=fxbook\""""
_IMPORT = re.compile(r"^(?=(?:from|import) fxbook\b)", re.MULTILINE)
_MODELS = re.compile(r"^(?:from|import) fxbook\.models\b", re.MULTILINE)


def with_package(page: Manuscript, book: Book) -> Manuscript:
    """Say what to install where `fxbook` is first imported, and install it once the book has an address."""
    cells, imprint = list(page.cells), book.imprint
    code = [number for number, cell in enumerate(cells) if cell.kind == "code"]
    importing = next((number for number in code if _IMPORT.search(cells[number].source)), None)
    if importing is None:
        return page
    cell = cells[importing]
    cells[importing] = dataclasses.replace(cell, source=_IMPORT.sub(f"# {advice(imprint)}\n", cell.source, count=1))
    if imprint.repository:
        has_models = any(_MODELS.search(cells[number].source) for number in code)
        install = _INSTALL_MODELS if has_models else _INSTALL
        source = install.format(requirement=imprint.requirement)
        cells.insert(code[0], Cell("code", source, 0, path=cell.path, id=CELL))
    return dataclasses.replace(page, cells=tuple(cells))


def advice(imprint: Imprint) -> str:
    folder = f"a clone of {imprint.repository}" if imprint.repository else "its folder"
    return f"fxbook comes with this book: run `pip install . ./fxbook` in {folder}."


def python(cell: NotebookNode) -> str:
    """The code of a cell, or ``""`` for the cell that installs the package, which is not plain Python."""
    return "" if cell.id == CELL else cell.source
