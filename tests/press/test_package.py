"""A copied first cell says what to install; with an address, every notebook installs it if missing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import nbclient
import nbformat
import pytest
import yaml
from nbformat import v4

from press import ROOT, imprint
from press.book import Book, the_book
from press.printing import package
from press.printing.freshness import problems
from press.printing.notebooks import print_notebooks

HOME = "https://github.com/someone/a-book"
CHAPTER = (
    "# Title\n\n```{code-cell} ipython3\nimport json\n```\n\n```{code-cell} ipython3\nfrom fxbook import hint\n```\n"
)
TELLS = "# fxbook comes with this book: run `pip install . ./fxbook` in its folder."
TELLS_ADDRESS = f"# fxbook comes with this book: run `pip install . ./fxbook` in a clone of {HOME}."
# A kernel without some packages, with a pip that only prints its arguments.
ELSEWHERE = """\
import importlib.util

there = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name in {missing} else there(name)
get_ipython().register_magic_function(lambda line: print(line), magic_name="pip")"""


@pytest.fixture
def printed(project: Path, write: Callable[[str, str], Path]) -> Path:
    write("chapters/01_x.md", CHAPTER)
    assert print_notebooks(Book(project)) == 0
    return project


def name_the_repository(root: Path, url: str = HOME) -> None:
    for name in ("pyproject.toml", "CHANGELOG.md", "_config.yml"):
        shutil.copy(ROOT / name, root)
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    config["repository"]["url"] = url
    (root / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")


def code(root: Path) -> list[nbformat.NotebookNode]:
    cells = nbformat.read(root / "chapters" / "01_x.ipynb", as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


def test_without_an_address_only_the_import_helps(printed: Path) -> None:
    assert [cell.source for cell in code(printed)] == ["import json", f"{TELLS}\nfrom fxbook import hint"]


def test_with_an_address_notebooks_begin_by_installing(printed: Path) -> None:
    name_the_repository(printed)
    assert [problem.path.name for problem in problems(Book(printed))] == ["01_x.ipynb"]
    assert print_notebooks(Book(printed)) == 0
    assert problems(Book(printed)) == []
    first, *rest = code(printed)
    assert [cell.source for cell in rest] == ["import json", f"{TELLS_ADDRESS}\nfrom fxbook import hint"]
    assert first.id == package.CELL and first.outputs == []
    assert dict(first.metadata) == {**package.FOLDED, "jupyter": {"source_hidden": True}}
    name_the_repository(printed, url="")
    assert [problem.path.name for problem in problems(Book(printed))] == ["01_x.ipynb"], "no cell without an address"


@pytest.mark.parametrize(
    ("imports", "missing", "extras"),
    [
        ("hint", (), None),
        ("hint", ("fxbook",), ""),
        ("hint", ("fxbook.catalogue",), ""),
        ("hint", ("fxbook", "torch"), "[torch]"),
        ("models", ("transformers",), "[models]"),
        ("models", ("fxbook", "torch"), "[models,torch]"),
    ],
)
def test_the_cell_asks_for_what_is_missing(
    imports: str, missing: tuple[str, ...], extras: str | None, project: Path, write: Callable[[str, str], Path]
) -> None:
    models = CHAPTER.replace("from fxbook import hint", "from fxbook.models import NAMES")
    write("chapters/01_x.md", models if imports == "models" else CHAPTER)
    name_the_repository(project)
    assert print_notebooks(Book(project)) == 0
    cells = [v4.new_code_cell(ELSEWHERE.format(missing=missing)), code(project)[0]]
    nbclient.NotebookClient(v4.new_notebook(cells=cells), kernel_name="python3").execute()
    home = f"git+{HOME}@main"
    asked = f'install --quiet "fxbook{extras} @ {home}" "fxbook-exercises @ {home}#subdirectory=fxbook"\n'
    assert "".join(output.text for output in cells[1].outputs) == ("" if extras is None else asked)


def test_every_notebook_has_the_cell_once() -> None:
    advice = f"# {package.advice(the_book().imprint)}"
    lacking = []
    for source in the_book().sources:
        for path in the_book().targets(source):
            cells = [cell.source for cell in the_book().printed(path).cells if cell.cell_type == "code"]
            imports = [line for cell in cells for line in cell.splitlines() if line.startswith("from fxbook")]
            told = "\n".join(cells).count(advice)
            if told != bool(imports):
                lacking.append((path.name, told))
    assert lacking == []


def test_the_title_page_names_authors_version_and_day() -> None:
    told = the_book().imprint
    title = nbformat.read(ROOT / "chapters" / "intro.ipynb", as_version=4).cells[0].source
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert told.byline in title and imprint.BYLINE not in title
    for part in (config["author"], f"Version {told.version}", f"{told.day.year}", "BSD 3-Clause", "CC BY 4.0"):
        assert part in told.byline


def test_a_citation_has_the_address_once_there_is_one(tmp_path: Path) -> None:
    name_the_repository(tmp_path)
    told = yaml.safe_load(imprint.citation(imprint.read(tmp_path)))
    assert told["repository-code"] == told["url"] == told["preferred-citation"]["url"] == HOME
    assert "url" not in json.dumps(yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8")), default=str)
