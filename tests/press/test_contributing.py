"""The exercise that CONTRIBUTING.md shows is the one that a new exercise begins as, and that one runs and is proven."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from press import ROOT
from press.book import Book
from press.manuscript.problems import PressError
from press.new_exercise import FILES, make
from press.printing.derive import derive
from press.printing.freshness import index_text

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SHOWN = "01-double-the-input"
# Runs in the copy: what the check says of the stub and of the solution, and of each answer beside what it ought to.
_CHECKS = """
import json, sys
import torch
from torch import fx, nn
from fxbook.checking import check_with
from fxbook.learning.exercises import about
from fxbook.tasks import find
from fxbook.tasks.answering import answers_to

def told(answer):
    report = check_with(find(identity), answer, seed=1)
    node = report.node.name if report.node else None
    case = None if report.verdict.case is None else find(identity).cases[report.verdict.case].name
    return [report.passed, report.violated or "", node, report.read, case, report.message]

identity, forms = sys.argv[1], json.loads(sys.argv[2])
said = {"answers": [], "rules": [name for rule in find(identity).rules for name in rule.names()]}
for form, source in forms.items():
    names = {"torch": torch, "fx": fx}
    exec(source, names)
    said[form] = told(names[about(identity).answer])[0]
for one in answers_to(identity):
    said_of = told(one.answer)
    wanted = [not one.violated, one.violated, one.node, one.read or about(identity).read, one.case or said_of[4]]
    said["answers"].append([one.name, [*wanted, one.says], said_of])
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library and the chapters, with a new exercise that nobody has changed."""
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "fxbook", root / "fxbook", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "book" / "chapters", root / "book" / "chapters")
    shutil.copy(ROOT / "requirements.txt", root)
    make(Book(root), SHOWN)
    (root / "fxbook" / "exercises.json").write_text(index_text(Book(root)), encoding="utf-8")
    return root


def test_what_is_shown_is_what_the_command_makes(copy: Path) -> None:
    folder = copy / "fxbook" / "tasks" / "01_node_creation" / "double_the_input"
    shown = re.findall(r"^(?P<fence>`{3,})(?:markdown|python|toml)\n(.*?)\n(?P=fence)$", TEXT, re.DOTALL | re.MULTILINE)
    for name in FILES:
        assert (folder / name).read_text(encoding="utf-8").rstrip() in [text for _, text in shown], name
    assert f"python -m press exercise {SHOWN}\n" in TEXT


def test_a_new_exercise_runs_fails_as_handed_out_and_is_proven(copy: Path) -> None:
    book = Book(copy)
    exercise = book.sheet_of("01_node_creation").exercises[-1]
    assert (exercise.id, exercise.title) == (SHOWN, "Double the input")
    assert SHOWN in derive(book, book.sheet_of("01_node_creation").folder, {})[0].exercise_ids
    forms = json.dumps({"stub": exercise.stub[0].source, "solution": exercise.solution[0].source})
    command = [sys.executable, "-c", _CHECKS, SHOWN, forms]
    ran = subprocess.run(command, cwd=copy, env={"PYTHONPATH": str(copy)}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert (said["stub"], said["solution"]) == (False, True)
    for name, (*wanted, says), (*told, message) in said["answers"]:
        assert told == wanted and says in message, name
    violated = {wanted[1] for _, wanted, _ in said["answers"]} - {""}
    assert violated == set(said["rules"]) and len(violated) >= 5


def test_a_chapter_without_exercises_gets_a_sheet(copy: Path) -> None:
    chapter = (copy / "book" / "chapters" / "01_node_creation.md").read_text(encoding="utf-8")
    (copy / "book" / "chapters" / "47_more.md").write_text(chapter, encoding="utf-8")
    folder = make(Book(copy), "47-first-of-all")
    sheet = Book(copy).sheet(folder.parent)
    assert [exercise.id for exercise in sheet.exercises] == ["47-first-of-all"]


@pytest.mark.parametrize(
    ("identity", "message"),
    [
        ("double", "'double' is no id of an exercise: write 03-words-in-lower-case"),
        ("01-Double", "is no id of an exercise"),
        ("01-six-opcodes", "is there already: choose another id than 01-six-opcodes"),
        ("88-double", "there is no chapter 88: write chapters/88_name.md first"),
    ],
)
def test_an_id_that_cannot_be_is_refused(identity: str, message: str, copy: Path) -> None:
    with pytest.raises(PressError, match=re.escape(message)):
        make(Book(copy), identity)
