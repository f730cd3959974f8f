"""The first import of fxbook says what to install; once the book has an address, every notebook installs it."""

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
from press.printing.kernels import own_socket
from press.printing.notebooks import generate

HOME = "https://github.com/someone/a-book"
CHAPTER = (
    "# Title\n\n```{code-cell} ipython3\nimport json\n```\n\n```{code-cell} ipython3\nfrom fxbook import hint\n```\n"
)
ADVICE = "# fxbook comes with this book: run `pip install . ./fxbook` in its folder."
ADVICE_WITH_ADDRESS = f"# fxbook comes with this book: run `pip install . ./fxbook` in a clone of {HOME}."
# Make a kernel without some packages, and with a pip that only prints its arguments.
ELSEWHERE = """\
import importlib.util

there = globals().get("there", importlib.util.find_spec)
importlib.util.find_spec = lambda name: None if name in {missing} else there(name)
get_ipython().register_magic_function(lambda line: print(line), magic_name="pip")"""


@pytest.fixture
def generated(project: Path, write: Callable[[str, str], Path]) -> Path:
    write("chapters/01_x.md", CHAPTER)
    assert generate(Book(project)) == 0
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


def test_without_an_address_only_a_comment_helps(generated: Path) -> None:
    assert [cell.source for cell in code(generated)] == ["import json", f"{ADVICE}\nfrom fxbook import hint"]


@pytest.mark.room(name="versions")
def test_with_an_address_notebooks_begin_by_installing(generated: Path) -> None:
    name_the_repository(generated)
    assert [problem.path.name for problem in problems(Book(generated))] == ["01_x.ipynb"]
    assert generate(Book(generated)) == 0
    assert problems(Book(generated)) == []
    first, *rest = code(generated)
    assert [cell.source for cell in rest] == ["import json", f"{ADVICE_WITH_ADDRESS}\nfrom fxbook import hint"]
    assert first.id == package.CELL and first.outputs == []
    assert dict(first.metadata) == {**package.FOLDED, "jupyter": {"source_hidden": True}}
    name_the_repository(generated, url="")
    assert [problem.path.name for problem in problems(Book(generated))] == ["01_x.ipynb"], (
        "without an address there is no such cell"
    )


@pytest.mark.room(name="versions")
@pytest.mark.parametrize(
    ("imports", "extras"),
    [
        (
            "from fxbook import hint",
            {(): None, ("fxbook",): "", ("fxbook.catalogue",): "", ("fxbook", "torch"): "[torch]"},
        ),
        (
            "from fxbook.models import NAMES",
            {("transformers",): "[models]", ("fxbook", "torch"): "[models,torch]"},
        ),
    ],
    ids=["hint", "models"],
)
def test_the_cell_installs_what_is_missing(
    imports: str, extras: dict[tuple[str, ...], str | None], project: Path, write: Callable[[str, str], Path]
) -> None:
    write("chapters/01_x.md", CHAPTER.replace("from fxbook import hint", imports))
    name_the_repository(project)
    assert generate(Book(project)) == 0
    install = code(project)[0].source
    sources = [source for missing in extras for source in (ELSEWHERE.format(missing=missing), install)]
    cells = [v4.new_code_cell(source) for source in sources]
    nbclient.NotebookClient(v4.new_notebook(cells=cells), kernel_name="python3", config=own_socket()).execute()
    home = f"git+{HOME}@main"
    command = f'install --quiet "fxbook{{}} @ {home}" "fxbook-exercises @ {home}#subdirectory=fxbook"\n'
    printed = ["".join(output.text for output in cell.outputs) for cell in cells[1::2]]
    assert printed == ["" if extra is None else command.format(extra) for extra in extras.values()]


def test_every_notebook_that_imports_fxbook_has_the_advice_once() -> None:
    advice = f"# {package.advice(the_book().imprint)}"
    wrong = []
    for source in the_book().sources:
        for path in the_book().targets(source):
            cells = [cell.source for cell in the_book().stored(path).cells if cell.cell_type == "code"]
            imports = [line for cell in cells for line in cell.splitlines() if line.startswith("from fxbook")]
            count = "\n".join(cells).count(advice)
            if count != bool(imports):
                wrong.append((path.name, count))
    assert wrong == []


def test_the_title_page_names_authors_version_and_day() -> None:
    about = the_book().imprint
    title = nbformat.read(ROOT / "chapters" / "intro.ipynb", as_version=4).cells[0].source
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert about.byline in title and imprint.BYLINE not in title
    for part in (config["author"], f"Version {about.version}", f"{about.day.year}", "BSD 3-Clause", "CC BY 4.0"):
        assert part in about.byline


def test_a_citation_has_the_address_once_there_is_one(tmp_path: Path) -> None:
    name_the_repository(tmp_path)
    fields = yaml.safe_load(imprint.citation(imprint.read(tmp_path)))
    assert fields["repository-code"] == fields["url"] == fields["preferred-citation"]["url"] == HOME
    assert "url" not in json.dumps(yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8")), default=str)
