"""Once the book has an address, pages link to the repository, the manuscript, reports and services that run them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from pytest_regressions.file_regression import FileRegressionFixture

from press import ROOT, imprint
from press.book import the_book
from press.manuscript.problems import PressError
from press.pages.derived import PAGES as GENERATED
from tests.loading import load
from tests.site.pages import PAGES, parsed

HOME = "https://github.com/someone/a-book"
SHOWN = ("chapters/01_node_creation", "exercises/01_node_creation", "chapters/reference/status", "book/setup")
TOC = {"format": "jb-book", "root": SHOWN[0], "chapters": [{"file": page} for page in SHOWN[1:]]}
LABELS = ("source-repository-button", "source-edit-button", "source-issues-button", "source-discussion-button")
TALK = f"{HOME}/discussions"
builds_a_site = pytest.mark.room(name="site")
TEXTS = sorted(
    path
    for name in ("*.md", "docs/*.md", "book/**/*.md", "classroom/**/*.md", "chapters/**/*.md")
    for path in ROOT.glob(name)
)


@pytest.fixture(scope="module")
def opened() -> ModuleType:
    return load("book/_ext/launch_buttons.py")


def configured(folder: Path, url: str, branch: str = "main", hub: str = "") -> Path:
    """A folder with the book's own settings, and an address."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config["repository"] = {"url": url, "branch": branch, "discussion": f"{url}/discussions"}
    config["launch_buttons"]["jupyterhub_url"] = hub
    (folder / "_config.yml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    for name in ("pyproject.toml", "CHANGELOG.md", "requirements.txt"):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture(scope="module")
def addressed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HTML of some pages of a book with an address."""
    root = configured(tmp_path_factory.mktemp("addressed"), HOME, "live", "https://hub.example.org")
    (root / "_toc.yml").write_text(yaml.safe_dump(TOC), encoding="utf-8")
    shutil.copytree(ROOT / "book", root / "book")
    for page in SHOWN:
        source = next(path for suffix in (".ipynb", ".md") if (path := ROOT / f"{page}{suffix}").is_file())
        (root / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, (root / page).parent)
    (root / "fxbook/tasks/01_node_creation").mkdir(parents=True)
    # Warnings are allowed, since links lead to pages that are left out here.
    command = [sys.executable, "-c", "import press; from jupyter_book.cli.main import main; main()", "build", str(root)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return root / "_build" / "html"


def buttons(html: Path) -> dict[str, str]:
    """The targets of a page's buttons, by label, or by text in the launch menu."""
    page = parsed(html)
    source = {label: link["href"] for label in LABELS for link in page.select(f"a.btn-{label}")}
    launch = page.select(".dropdown-launch-buttons a")
    return source | {link.get_text(strip=True): link["href"] for link in launch}


def where(html: Path) -> str:
    """What a page says about where its exercises run."""
    note = parsed(html).select_one("h1 + .fx-where")
    return note.get_text() if note else ""


@builds_a_site
def test_exercise_page_says_where_cells_run(built_book: Path, addressed: Path) -> None:
    page = "exercises/01_node_creation"
    offline = where(built_book / f"{page}.html")
    assert offline.endswith(f"run make lab and open {page}.ipynb.")
    assert where(addressed / f"{page}.html").startswith(f"{offline[:-1]}, or open this page in ")
    assert not where(built_book / "chapters/01_node_creation.html")


def test_without_an_address_nothing_shows_one(built_book: Path) -> None:
    assert the_book().imprint.repository == "", "the book has an address now: test what it shows"
    shown = {page: buttons(built_book / f"{page}.html") for page in PAGES}
    assert {page: found for page, found in shown.items() if found} == {}
    setup = (built_book / "book/setup.html").read_text(encoding="utf-8")
    assert "git clone" not in setup and "rocket" not in setup
    text = parsed(built_book / "book/setup.html").get_text(" ", strip=True)
    assert "terminal in the project folder" in text and not re.search(r"[Dd]ownload or clone|Get the project", text)


@builds_a_site
def test_buttons_lead_to_the_manuscript_a_report_and_places_to_run_it(
    addressed: Path, file_regression: FileRegressionFixture
) -> None:
    """A chapter, exercises, a generated page, and a page without code."""
    shown = {page: buttons(addressed / f"{page}.html") for page in SHOWN}
    file_regression.check(yaml.safe_dump(shown, sort_keys=False, width=200), basename="buttons", extension=".yml")


@builds_a_site
def test_the_set_up_page_shows_the_address_and_explains_the_buttons(addressed: Path) -> None:
    text = parsed(addressed / "book/setup.html").get_text(" ", strip=True)
    line = re.sub(r"\s+", " ", text)
    assert f"git clone {HOME}" in line and line.index("git clone") < 1200, "not before the ways to run the book"
    assert parsed(addressed / "book/setup.html").select(f"article a[href='{TALK}']")
    assert "Binder, Colab or JupyterHub" in text


def test_every_page_with_a_manuscript_leads_to_it(opened: ModuleType) -> None:
    book = the_book()
    for source in book.sources:
        for target in book.targets(source):
            page = target.relative_to(ROOT).with_suffix("").as_posix()
            assert opened.manuscript_of(ROOT, page) == source.relative_to(ROOT).as_posix()
    made = {page for page in PAGES if not opened.manuscript_of(ROOT, page)}
    assert made == {path.with_suffix("").as_posix() for path in GENERATED if path.suffix == ".md"}


@pytest.mark.parametrize(
    "url", ["git@github.com:someone/a-book", "https://github.com/someone", "https://example.org/a/b"]
)
def test_an_unusable_address_is_rejected(url: str, tmp_path: Path) -> None:
    with pytest.raises(PressError, match="write https://github"):
        imprint.read(configured(tmp_path, url))


def test_rendering_needs_no_torch() -> None:
    """Nor does it need jupytext."""
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('torch', 'jupytext')))\n"
        "import press, runpy; runpy.run_path('book/_ext/launch_buttons.py')"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_text_has_a_gap_for_an_address(path: Path) -> None:
    gaps = re.findall(
        r"<the address>|ADDRESS-OF-THE-BOOK|<your[ -]\w+>|https?://(?:example|TODO)\S*", path.read_text("utf-8")
    )
    assert gaps == []
