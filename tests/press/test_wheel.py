"""Two wheels contain everything that notebooks import and read; that of the tools works alone and without extras."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hatchling.builders.wheel import WheelBuilder

from fxbook import TRIED_TORCH
from fxbook.catalogue import catalogue
from press import ROOT
from press.book import the_book
from press.printing import package

# Manuscripts, and right and wrong answers, which learners do not get.
NOT_SHIPPED = ("answers.py", "answering.py", "task.md", "opening.md", "questions.toml")
# Modules whose package has another name.
DISTRIBUTIONS = {"IPython": "ipykernel", "functorch": "torch", "numpy": "matplotlib"}
# Modules that a cell writes before it imports them.
WRITTEN = {"pipeline_worker"}
# The limit for the wheel of the tools, in bytes.
SMALL = 250_000


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheels of the tools and of the exercises."""
    folder = str(tmp_path_factory.mktemp("wheels"))
    builders = [WheelBuilder(str(ROOT)), WheelBuilder(str(ROOT / "fxbook"))]
    return [Path(path) for builder in builders for path in builder.build(directory=folder, versions=["standard"])]


def unpacked(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def tools(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel of the tools."""
    return unpacked(wheels[0], tmp_path_factory.mktemp("tools"))


@pytest.fixture(scope="module")
def installed(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both wheels, unpacked."""
    folder = tmp_path_factory.mktemp("installed")
    for wheel in wheels:
        unpacked(wheel, folder)
    return folder


def imported() -> list[str]:
    """The import lines of all notebooks, each once."""
    lines: dict[str, None] = {}
    for source in the_book().sources:
        for target in the_book().targets(source):
            for cell in the_book().stored(target).cells:
                if cell.cell_type == "code":
                    nodes = ast.walk(ast.parse(package.python(cell)))
                    found = (node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
                    lines |= dict.fromkeys(ast.unparse(node) for node in found)
    return list(lines)


def files(folder: Path) -> set[Path]:
    """The files of the library in a folder."""
    found = {path.relative_to(folder) for path in (folder / "fxbook").rglob("*") if path.is_file()}
    return {path for path in found if "__pycache__" not in path.parts}


def is_kept_back(path: Path) -> bool:
    return path.name == "pyproject.toml" or ("tasks" in path.parts and path.name in NOT_SHIPPED)


def test_every_file_of_the_library_is_in_one_wheel(wheels: list[Path], tmp_path: Path) -> None:
    of_tools, of_exercises = (files(unpacked(wheel, tmp_path / wheel.name)) for wheel in wheels)
    shipped = {path for path in files(ROOT) if not is_kept_back(path)}
    licences = {Path("fxbook/tasks") / name for name in ("LICENSE", "LICENSE-TEXT")}
    assert len(of_tools) > 50 and of_tools | of_exercises == shipped | licences
    assert not of_tools & of_exercises
    # `press` and `classroom` work from the book's folder, on its manuscript and exercises.
    tops = {path.name for wheel in wheels for path in (tmp_path / wheel.name).iterdir()}
    assert {name for name in tops if not name.endswith(".dist-info")} == {"fxbook"}


def test_the_tools_are_small_and_have_their_licence(wheels: list[Path], tools: Path) -> None:
    assert wheels[0].stat().st_size < SMALL
    assert [path.name for path in tools.glob("*.dist-info/licenses/*")] == ["LICENSE"]


def test_no_tool_imports_what_goes_with_the_exercises(tools: Path) -> None:
    held, found = files(tools), []
    for path in (path for path in held if path.suffix == ".py" and path != Path("fxbook/__init__.py")):
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            match node:
                case ast.ImportFrom(module=str(module), names=names) if module.startswith("fxbook"):
                    # A module of that name, or a name in its parent.
                    wanted = [modules(f"{module}.{one.name}") or modules(module) for one in names]
                case ast.Import(names=names):
                    wanted = [modules(one.name) for one in names if one.name.startswith("fxbook.")]
                case _:
                    continue
            found += [(path, node.lineno) for places in wanted if not places & held]
    assert found == []


def modules(name: str) -> set[Path]:
    path = Path(*name.split("."))
    return {one for one in (path.with_suffix(".py"), path / "__init__.py") if (ROOT / one).is_file()}


def project_of(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_imports_of_notebooks_are_dependencies() -> None:
    """With the exercises, pip installs everything that a notebook imports; the models of Part II need an extra."""
    project, exercises = project_of(ROOT), project_of(ROOT / "fxbook")
    extras = project["optional-dependencies"]
    assert exercises["version"] == project["version"]
    assert exercises["dependencies"] == [f"fxbook[notebooks]=={project['version']}"]
    assert project["dependencies"] == ["msgspec", f"torch>={TRIED_TORCH[0]}"]
    assert {*extras["draw"], *extras["hypothesis"], *extras["plots"]} < set(extras["notebooks"])
    requirements = [*project["dependencies"], *extras["notebooks"], *extras["models"]]
    installed = {re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in requirements}
    found = {re.match(r"(?:from|import) (\w+)", line)[1] for line in imported()} - set(sys.stdlib_module_names)
    assert {DISTRIBUTIONS.get(name, name) for name in found} - installed - {"fxbook"} - WRITTEN == set()


@pytest.mark.room(name="versions")
def test_the_tools_work_with_torch_and_msgspec_alone(tools: Path, tmp_path: Path) -> None:
    """An error names the missing extra, or says that something comes with the exercises."""
    program = """
import pydoc, sys
sys.modules |= dict.fromkeys(("IPython", "graphviz", "hypothesis", "matplotlib", "tabulate"))
import fxbook
from fxbook import *
assert "torch" in sys.modules and set(fxbook.__all__) < set(dir(fxbook)) and fxbook.__version__
help = pydoc.plain(pydoc.render_doc(fxbook))
assert all(name in help for name in fxbook.__all__) and "check" not in fxbook.__all__
module = random_graph(3)
check_pass(lambda module: None, module, keep=[invariants.values])
stepper = RunStepper(module, *inputs_for(module))
assert repr(stepper) and draw(module)._repr_html_() and EditStepper(module)._repr_html_()

def message(run):
    try:
        run()
    except ImportError as error:
        print(error)

message(draw(module, order="data")._repr_html_)
message(random_graphs)
message(stepper._repr_html_)
message(lambda: fxbook.check("00-readers", module))
"""
    assert run(program, tools, tmp_path).splitlines() == [
        'draw(order="data") needs graphviz, which is not installed: run `pip install "fxbook[draw]"`.',
        'random_graphs needs hypothesis, which is not installed: run `pip install "fxbook[hypothesis]"`.',
        'A plot needs matplotlib, which is not installed: run `pip install "fxbook[plots]"`.',
        "fxbook.check comes with the exercises of the book: run `pip install ./fxbook` in its folder.",
    ]


def run(program: str, folder: Path, beside: Path) -> str:
    """The output of a program that imports the library from a folder."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r})\n{program}"]
    done = subprocess.run(command, cwd=beside, env={"PATH": ""}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.room(name="versions")
def test_the_notebooks_find_all_of_the_library_in_the_wheels(installed: Path, tmp_path: Path) -> None:
    lines = [line for line in imported() if line.startswith(("from fxbook", "import fxbook"))]
    assert len(lines) > 10
    program = f"""
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
    assert run(program, installed, tmp_path).splitlines()[-1] == f"{len(catalogue())} []"
