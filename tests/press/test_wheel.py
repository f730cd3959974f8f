"""The wheel holds all that the notebooks import and read: outside the checkout, `fxbook` works from it alone."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from fxbook.catalogue import catalogue
from press import ROOT
from press.book import the_book
from press.printing import package

# What the manuscript is printed from, and the right and wrong answers: no learner gets them.
NOT_SHIPPED = ("answers.py", "answering.py", "task.md", "opening.md", "questions.toml")
# What comes with a package of another name.
DISTRIBUTIONS = {"IPython": "ipykernel", "functorch": "torch", "numpy": "matplotlib"}

# What a cell writes before it imports it.
WRITTEN = {"pipeline_worker"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the wheel unpacks to."""
    source, wheels, target = (tmp_path_factory.mktemp(name) for name in ("source", "wheels", "installed"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, source)
    for name in ("classroom", "fxbook", "press"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(wheels), str(source)], check=True)
    (wheel,) = wheels.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def imported() -> list[str]:
    """The lines of all printed notebooks that import something, each once."""
    lines: dict[str, None] = {}
    for source in the_book().sources:
        for target in the_book().targets(source):
            for cell in the_book().printed(target).cells:
                if cell.cell_type == "code":
                    nodes = ast.walk(ast.parse(package.python(cell)))
                    found = (node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
                    lines |= dict.fromkeys(ast.unparse(node) for node in found)
    return list(lines)


def test_it_brings_the_library_alone(installed: Path) -> None:
    """`press` and `classroom` work from the folder of the book, on its manuscript and its exercises."""
    tops = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert tops == {"fxbook"}


def is_kept_back(path: Path) -> bool:
    return "tasks" in path.parts and path.name in NOT_SHIPPED


def test_every_file_of_the_library_is_in_it(installed: Path) -> None:
    files = [path for path in (ROOT / "fxbook").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    shipped = [path.relative_to(ROOT) for path in files if not is_kept_back(path)]
    lacking = [str(path) for path in shipped if not (installed / path).is_file()]
    assert len(shipped) > 100 and lacking == []
    assert [path.name for path in installed.rglob("*") if is_kept_back(path)] == []
    licences = {path.name for path in installed.glob("*.dist-info/licenses/*")}
    assert licences == {"LICENSE", "LICENSE-TEXT"}


def test_what_the_notebooks_import_is_asked_for() -> None:
    """With `fxbook`, pip brings all that a notebook imports; torch and the models of Part II come with extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["torch"], *extras["models"]]
    brought = {re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in asked}
    modules = {re.match(r"(?:from|import) (\w+)", line)[1] for line in imported()} - set(sys.stdlib_module_names)
    assert {DISTRIBUTIONS.get(name, name) for name in modules} - brought - {"fxbook"} - WRITTEN == set()


def test_the_notebooks_find_all_of_the_library_in_it(installed: Path, tmp_path: Path) -> None:
    lines = [line for line in imported() if line.startswith(("from fxbook", "import fxbook"))]
    assert len(lines) > 10
    program = f"""
import sys
sys.path.insert(0, {str(installed)!r})
{chr(10).join(lines)}
import fxbook, torch
from fxbook import EditStepper, check, draw, hint, tasks
from fxbook.catalogue import catalogue, headings
assert all(tasks.find(name) for name in catalogue()), "the check of each exercise"
traced = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()))
assert "<script" in EditStepper(traced, "as traced")._repr_html_() and "<svg" in draw(traced)._repr_html_()
from fxbook import check_pass, diff, inputs_for, invariants, random_graph, random_graphs
module = random_graph(3)
assert random_graphs() and check_pass(lambda module: None, module, keep=[invariants.values])
assert not diff(module, module) and module(*inputs_for(module)) is not None
report = check("00-readers", lambda graph: 3)
assert not report.passed and report.read in dict(headings())
hint("00-readers")
loose = [name for name, module in sys.modules.items()
         if name.split(".")[0] in ("fxbook", "press", "classroom")
         and not (getattr(module, "__file__", None) or {str(installed)!r}).startswith({str(installed)!r})]
print(len(catalogue()), loose)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env={"PATH": ""}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"{len(catalogue())} []"
