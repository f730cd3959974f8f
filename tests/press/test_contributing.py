"""The texts for authors name only what exists, and the exercise that they show is the tested template."""

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
from press.manuscript.sheet import CHECKED_BY, TASK
from press.new_exercise import make
from press.printing.derive import derive
from press.printing.freshness import index_text
from tests.press.test_public_host import unknown

GUIDE = ROOT / "docs" / "authoring.md"
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = "01-double-the-input"
# Run in the copy: the tests of the new exercise's answers, and its check on the stub and the solution.
_PROOF = """
import json, sys
import torch
from torch import fx, nn
from fxbook import check, tasks
identity, answer, forms = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
every = tasks.all_exercises
tasks.all_exercises = lambda: tuple(one for one in every() if one.id == identity)
from tests.checking import test_answers
for one in test_answers.ANSWERS[identity]:
    (test_answers.gets_its_report if one.violated else test_answers.passes)(identity, one, 1)
test_answers.test_every_rule_rejects_an_answer(identity)
for source, passes in forms:
    names = {"torch": torch, "fx": fx}
    exec(source, names)
    assert check(identity, names[answer]).passed == passes, source
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library and the chapters, with a new, unchanged exercise."""
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "fxbook", root / "fxbook", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "book" / "chapters", root / "book" / "chapters")
    shutil.copy(ROOT / "requirements.txt", root)
    make(Book(root), SHOWN)
    (root / "fxbook" / "exercises.json").write_text(index_text(Book(root)), encoding="utf-8")
    return root


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_links_paths_and_commands_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [link for link in links if not (path.parent / link).exists()] == []
    shell = "".join(re.findall(r"^```(?:bash|sh)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)).splitlines()
    named = [one for one in re.findall(r"`([^`\n]+)`", text) if not re.search(r"NN|^\.\./|_build|double|[<(]", one)]
    assert [lost for one in [*named, *shell] for lost in unknown(one)] == []


def test_shown_exercise_equals_the_template(copy: Path) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    folder = copy / "fxbook" / "tasks" / "01_node_creation" / "double_the_input"
    assert f"````markdown\n{(folder / TASK).read_text(encoding='utf-8')}````\n" in text
    assert f"python -m press exercise {SHOWN}\n" in text
    listed = re.findall(r"^- `(\w+\.\w+)`: ", text, re.MULTILINE)
    assert listed == [TASK, *CHECKED_BY] and all((folder / name).is_file() for name in listed)


def test_a_new_exercise_runs_fails_as_handed_out_and_is_proven(copy: Path) -> None:
    book = Book(copy)
    sheet = book.sheet_of("01_node_creation")
    exercise = sheet.exercises[-1]
    assert (exercise.id, exercise.title) == (SHOWN, "Double the input")
    assert SHOWN in derive(book, sheet.folder)[0].exercise_ids
    forms = json.dumps([(exercise.stub[0].source, False), (exercise.solution[0].source, True)])
    command = [sys.executable, "-c", _PROOF, SHOWN, exercise.answer, forms]
    ran = subprocess.run(command, cwd=copy, env={"PYTHONPATH": f"{copy}:{ROOT}"}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("identity", "message"),
    [
        ("double", "'double' is not an exercise id: write 03-words-in-lower-case"),
        ("01-Double", "is not an exercise id"),
        ("01-six-opcodes", "exists already: choose an id other than 01-six-opcodes"),
        ("88-double", "there is no chapter 88: write chapters/88_name.md first"),
    ],
)
def test_impossible_id_is_rejected(identity: str, message: str, copy: Path) -> None:
    with pytest.raises(PressError, match=re.escape(message)):
        make(Book(copy), identity)
