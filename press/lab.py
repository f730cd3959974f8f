"""JupyterLab on the notebooks of the book, at the introduction: a learner's folders, and stored pictures shown at once.

Jupyter shows stored HTML and JavaScript only of a notebook that was signed on this machine. The printed notebooks are
signed in a database of this project's own, beside its packages, so that nothing else that Jupyter does on the machine
is changed, and a notebook that somebody puts beside them is not trusted with them. What a reader runs and saves,
JupyterLab signs in the same database.
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
# The folder of the `custom.css` and the settings that JupyterLab loads. All of a notebook is laid out before a link
# leads into it: pictures that came later would push the section away.
STYLE = Path(__file__).parent / "lab_style"


def signatures() -> Path:
    """The folder of the project's own signatures, and of the secret that they are made with."""
    return environment.VENV / "share" / "jupyter" / "trusted"


def trust(book: Book, folder: Path) -> int:
    """Sign the printed notebooks of a book, without running any.

    Args:
        book: the book; of what is printed, it is what the manuscript names that is signed.
        folder: where the signatures are kept.

    Returns:
        How many were signed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    notary = NotebookNotary(data_dir=str(folder))
    targets = [target for source in book.sources for target in book.targets(source) if target.is_file()]
    for target in targets:
        # Whether it is valid was seen when it was printed; JupyterLab looks again.
        notary.sign(nbformat.v4.reads(target.read_text(encoding="utf-8")))
    notary.store.close()
    return len(targets)


def command(root: Path, folder: Path) -> list[str]:
    """What starts JupyterLab on a project, with the signatures that are kept in a folder."""
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
    """Trust the printed notebooks and open JupyterLab on them; return its exit status."""
    trust(book, signatures())
    return subprocess.run(command(book.root, signatures()), cwd=book.root).returncode
