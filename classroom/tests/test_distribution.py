"""The grader is a separate distribution: the content of its wheel, and its imports from the library."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

import classroom
from fxbook import grading

HERE = Path(classroom.__file__).parent


def test_wheel_contains_no_tests() -> None:
    held = {Path(file.distribution_path) for file in WheelBuilder(str(HERE)).recurse_included_files()}
    package = [path for pattern in ("*.py", "*.jinja", "*.css") for path in HERE.rglob(pattern)]
    wanted = {path.relative_to(HERE.parent) for path in package if "tests" not in path.parts}
    assert held == wanted and Path("classroom/reports/report.css") in held


def test_imports_only_public_modules() -> None:
    public = re.compile(r"fxbook(\.(grading|graph|drawing|plotting)\b.*)?")
    files = [path for path in HERE.rglob("*.py") if "tests" not in path.parts]
    imports = re.compile(r"^(?:from|import) (fxbook\S*)", re.MULTILINE)
    found = {name for path in files for name in imports.findall(path.read_text(encoding="utf-8"))}
    assert "fxbook.grading" in found and not [name for name in found if not public.fullmatch(name)]


def test_public_names_exist() -> None:
    modules = {name for name in grading.__all__ if inspect.ismodule(getattr(grading, name))}
    assert modules == {"forked", "sheets", "tasks"}
