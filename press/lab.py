"""Open JupyterLab on the book's notebooks: it lists only a learner's folders, and shows stored pictures at once.

Jupyter shows stored HTML and JavaScript only in notebooks that were signed on this machine. The generated notebooks are
signed in a database of the project, so that Jupyter's own does not change, and no other notebook in these folders is
trusted. JupyterLab uses the same database to sign the notebooks that a reader runs and saves.
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
# The folder with the `custom.css` and the settings for JupyterLab. They make it render a notebook completely before it
# follows a link into it, since pictures that are rendered later would push the section away.
STYLE = Path(__file__).parent / "lab_style"


def signatures() -> Path:
    """The folder with the project's own database of signatures, and its secret."""
    return environment.VENV / "share" / "jupyter" / "trusted"


def trust(book: Book, folder: Path) -> int:
    """Sign the generated notebooks of a book, without running any; return how many were signed.

    ``folder`` is for the signatures.
    """
    folder.mkdir(parents=True, exist_ok=True)
    notary = NotebookNotary(data_dir=str(folder))
    targets = [target for source in book.sources for target in book.targets(source) if target.is_file()]
    for target in targets:
        # Not validated here: that happened when it was generated, and JupyterLab does it again.
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
