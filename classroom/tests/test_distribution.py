"""The wheel of the grader holds its package, and neither its tests nor anything of the book."""

from __future__ import annotations

from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

import classroom

HERE = Path(classroom.__file__).parent


def test_the_wheel_holds_the_package_without_its_tests() -> None:
    held = {Path(file.distribution_path) for file in WheelBuilder(str(HERE)).recurse_included_files()}
    package = [path for pattern in ("*.py", "*.jinja", "*.css") for path in HERE.rglob(pattern)]
    wanted = {path.relative_to(HERE.parent) for path in package if "tests" not in path.parts}
    assert held == wanted and Path("classroom/reports/report.css") in held
