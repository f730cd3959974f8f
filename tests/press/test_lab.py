"""`make lab` opens the introduction; it trusts generated notebooks and no others, without running them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.contents.largefilemanager import LargeFileManager

from press import ROOT, lab
from press.book import Book
from press.printing.notebooks import generate

DRAWN = "# Title\n\n```{code-cell} ipython3\nfrom IPython.display import HTML\n\nHTML('<b>drawn</b>')\n```\n"


@pytest.fixture
def generated(project: Path, write: Callable[[str, str], Path]) -> Path:
    """A project with one generated notebook, which shows HTML."""
    write("chapters/01_x.md", DRAWN)
    assert generate(Book(project)) == 0
    return project


def manager(root: Path) -> LargeFileManager:
    """The file manager of the server that `make lab` starts."""
    server = ServerApp()
    server.parse_command_line(lab.command(root, root / "trusted")[3:])
    return LargeFileManager(root_dir=server.root_dir, config=server.config)


def cells_as_shown(root: Path, name: str) -> list[bool]:
    """Whether JupyterLab trusts each code cell."""
    cells = manager(root).get(name)["content"].cells
    return [cell.metadata.trusted for cell in cells if cell.cell_type == "code"]


def test_a_learner_sees_the_introduction_and_three_folders() -> None:
    assert {entry["name"] for entry in manager(ROOT).get("")["content"]} == {"chapters", "exercises", "solutions"}
    (page,) = (option for option in lab.command(ROOT, ROOT) if option.startswith("--LabApp.default_url="))
    assert (ROOT / page.partition("/lab/tree/")[2]).is_file()
    assert (lab.STYLE / "custom.css").is_file() and (lab.STYLE / "overrides.json").is_file()


def test_a_generated_notebook_is_trusted_without_a_run(generated: Path) -> None:
    before = (generated / "chapters/01_x.ipynb").read_bytes()
    (generated / "trusted").mkdir()
    assert cells_as_shown(generated, "chapters/01_x.ipynb") == [False]
    assert lab.trust(Book(generated), generated / "trusted") == 1
    assert cells_as_shown(generated, "chapters/01_x.ipynb") == [True]
    assert (generated / "chapters/01_x.ipynb").read_bytes() == before


def test_foreign_notebook_is_not_trusted(generated: Path) -> None:
    text = (generated / "chapters/01_x.ipynb").read_text(encoding="utf-8").replace("drawn", "planted")
    (generated / "chapters/02_planted.ipynb").write_text(text, encoding="utf-8")
    lab.trust(Book(generated), generated / "trusted")
    assert cells_as_shown(generated, "chapters/02_planted.ipynb") == [False]


def test_changed_notebook_is_not_trusted(generated: Path) -> None:
    lab.trust(Book(generated), generated / "trusted")
    path = generated / "chapters/01_x.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace("drawn", "planted"), encoding="utf-8")
    assert cells_as_shown(generated, "chapters/01_x.ipynb") == [False]


def test_the_signatures_are_the_projects_own(tmp_path: Path) -> None:
    """Jupyter's own database in the user's home folder is not touched."""
    own = tmp_path / "own"
    code = f"from pathlib import Path; from press import book, lab; lab.trust(book.Book(), Path({str(own)!r}))"
    home = tmp_path / "home"
    home.mkdir()
    environment = {"HOME": str(home), "USERPROFILE": str(home), "PATH": "", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, check=True)
    assert [path.name for path in home.rglob("*") if path.is_file()] == []
    assert {path.name for path in own.iterdir()} >= {"notebook_secret", "nbsignatures.db"}
