"""Open JupyterLab on the book's notebooks, with a learner's folders, and with stored pictures shown at once.

Jupyter shows stored HTML and JavaScript only in notebooks that were signed on this machine. The printed notebooks are
signed in the project's own database, so that Jupyter's own is not changed, and other notebooks in these folders are not
trusted. JupyterLab signs what a reader runs and saves in the same database.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.sign import NotebookNotary

from press.binding import environment
from press.book import Book

# What a learner opens; the file browser hides the rest of the project.
FOLDERS = ("chapters", "exercises", "solutions")
# The folder with the `custom.css` and the settings for JupyterLab. They make it render a notebook completely before
# following a link into it, since later pictures would push the section away.
STYLE = Path(__file__).parent / "lab_style"


def signatures() -> Path:
    """The folder of the project's own signatures and secret."""
    return environment.VENV / "share" / "jupyter" / "trusted"


def trust(book: Book, folder: Path) -> int:
    """Sign the printed notebooks of a book; return how many were signed.

    Only notebooks that the manuscript names are signed, and none is run. ``folder`` holds the signatures.
    """
    folder.mkdir(parents=True, exist_ok=True)
    notary = NotebookNotary(data_dir=str(folder))
    targets = [target for source in book.sources for target in book.targets(source) if target.is_file()]
    for target in targets:
        # They were validated when printed, and JupyterLab validates them again.
        notary.sign(nbformat.v4.reads(target.read_text(encoding="utf-8")))
    notary.store.close()
    return len(targets)


def command(root: Path, folder: Path) -> list[str]:
    hidden = sorted(path.name for path in root.iterdir() if path.name not in FOLDERS and not path.name.startswith("."))
    options = [
        f"--ServerApp.root_dir={root}",
        f"--NotebookNotary.data_dir={folder}",
        "--LabApp.default_url=/lab/tree/chapters/intro.ipynb",
        "--LabApp.custom_css=True",
        f"--LabApp.app_settings_dir={STYLE}",
        f"--ServerApp.tornado_settings=static_custom_path={STYLE}",
        *(f"--ContentsManager.hide_globs={name}" for name in ("__pycache__", *hidden)),
    ]
    return [sys.executable, "-m", "jupyterlab", *options]


def open_lab(book: Book) -> int:
    trust(book, signatures())
    return subprocess.run(command(book.root, signatures()), cwd=book.root).returncode
