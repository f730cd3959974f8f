"""The part of the library that goes where submissions run contains no rules and no solutions."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from classroom.sandbox import contents, observer_package
from fxbook import tasks
from fxbook.catalogue import catalogue


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("half")
    for path, text in observer_package.files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def test_package_has_no_rules_or_expected_results(half: Path) -> None:
    for path in half.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        assert not used & {"CHECK", "rule", "configurable", "same_result"}, path
        assert not defined & {"Rule", "Violation", "CaseView", "Verdict"}, path
    for name in ("checking/judge.py", "rules", "learning/watching"):
        assert not (half / "fxbook" / name).exists()


@pytest.mark.parametrize("room", contents.ROOMS)
def test_rooms_contain_no_known_answer(room: str) -> None:
    """A graph that takes over its judge could put any file of the room into its report."""
    files = {path.name for path in map(Path, contents.files(room)) if path.is_relative_to("fxbook/tasks")}
    assert (
        files
        == {
            contents.OBSERVING: {"__init__.py", "cases.py"},
            contents.JUDGING: {"__init__.py", "cases.py", "check.py"},
            contents.READING: set(),
        }[room]
    )


def test_package_imports_by_itself_without_rules_and_case_names(half: Path) -> None:
    """It imports only what it contains. No case has its name, not even one that is put together at run time."""
    code = "import json; from fxbook import tasks; exercises = tasks.all_exercises()"
    code += "; print(len(exercises), {exercise.check.rules for exercise in exercises})"
    code += "; print(json.dumps([case.name for exercise in exercises for case in exercise.usage.cases]))"
    code += "; import fxbook.observing.observe, fxbook.observing.prepare, fxbook.learning.sheets, fxbook.drawing"
    code += ", fxbook.errors, fxbook.plotting, fxbook.stepping.edit.stepper, fxbook.stepping.run.stepper"
    command = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(half)!r}); {code}"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=half)
    counted, _, inside = result.stdout.strip().partition("\n")
    assert counted == f"{len(tasks.ids())} {{()}}", result.stderr
    names = {case.name for exercise in tasks.all_exercises() for case in exercise.usage.cases}
    assert len(names) > 200 and not names.intersection(json.loads(inside))


def test_package_contains_no_case_names(half: Path) -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in half.rglob("cases.py"))
    names = [case.name for exercise in tasks.all_exercises() for case in exercise.usage.cases if " " in case.name]
    assert len(names) > 200 and not [name for name in names if repr(name) in text]


def test_package_contains_no_solution(half: Path) -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in half.rglob("*.py"))
    answers = [re.escape(about.answer) for about in catalogue().values()]
    assert not re.findall(rf"^(?:def|class) (?:{'|'.join(answers)})\b", text, re.MULTILINE)
