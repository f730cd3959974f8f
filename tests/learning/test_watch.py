"""`make watch` finds the first unsolved exercise, checks it at every save, and copes with any content of a sheet."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from pathlib import Path

import nbformat
import pytest

from fxbook.catalogue import About, catalogue
from fxbook.learning import sheets
from fxbook.learning.watching import attempt as attempting
from fxbook.learning.watching import watch
from fxbook.learning.watching.attempt import attempt
from fxbook.learning.watching.loop import Watch
from fxbook.learning.watching.progress import NAME, Progress
from press import ROOT

CHAPTER = [about for about in catalogue().values() if about.chapter == "00_first_graph"]
FIRST, SECOND = CHAPTER[:2]
IMPORTS = "import torch\nfrom torch import fx, nn"
SOLUTION = """
def layers_in_order(model):
    return [node.target for node in fx.symbolic_trace(model).graph.nodes if node.op == "call_module"]
"""
STUB = "def layers_in_order(model):\n    return []"


def notebook(folder: Path, *cells: str, name: str = "00_first_graph") -> Path:
    document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    path = folder / f"{name}.ipynb"
    nbformat.write(document, path)
    return path


def script(folder: Path, *cells: str) -> Path:
    path = folder / "00_first_graph.py"
    path.write_text("".join(f"# %%\n{cell}\n\n" for cell in cells), encoding="utf-8")
    return path


def later(path: Path) -> None:
    """Make the file newer than all others."""
    os.utime(path, (time.time() + 60, time.time() + 60))


# ---- contents of a sheet ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cells",
    {
        "plain": [IMPORTS, SOLUTION],
        "the stub still above": [IMPORTS, STUB, SOLUTION],
        "another order of other cells": ["print(unknown)", IMPORTS, SOLUTION, "1 / 0"],
        "magics and shell": ["%matplotlib inline\n" + IMPORTS, "!ls", "%%bash\nexit 1", SOLUTION],
        "leaves": [IMPORTS, "raise SystemExit", SOLUTION],
        "a check and a hint": [IMPORTS, 'check("00-readers", 1)\nhint("00-readers")', SOLUTION],
        "help": [IMPORTS + "\nfx.Graph?", SOLUTION],
        "imports under another name": [IMPORTS, SOLUTION.replace("layers_in", "in"), "layers_in_order = in_order"],
        "a cell that is not Python": [IMPORTS, "def (:", SOLUTION],
    }.values(),
)
@pytest.mark.parametrize("form", [notebook, script])
def test_an_answer_is_found_by_its_name(tmp_path: Path, cells: list[str], form) -> None:
    form(tmp_path, *cells)
    outcome = attempt(tmp_path, FIRST)
    assert outcome.passed, outcome.text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not a notebook that can be read"),
        (b'{"cells": [', "is not a notebook that can be read"),
        (b"<<<<<<< HEAD", "is not a notebook that can be read"),
        (b"[1, 2]", "is not a notebook that can be read"),
        (b'{"nbformat": 4, "cells": 7}', "is not a notebook that can be read"),
        (b"\xff\xfe\x00", "it is not text"),
    ],
)
def test_damaged_notebook_is_reported(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "00_first_graph.ipynb"
    path.write_bytes(content)
    outcome = attempt(tmp_path, FIRST)
    assert not outcome.passed
    assert says in outcome.text and path.name in outcome.text
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([IMPORTS], "No cell of 00_first_graph.ipynb defines `layers_in_order`"),
        ([IMPORTS, "def layers_in_order(model):\nreturn []"], "Cell 2 raises IndentationError"),
        ([SOLUTION], "Your code raises NameError: name 'fx' is not defined"),
        ([IMPORTS, "import os\nos._exit(0)", SOLUTION], "ended the Python process"),
        ([IMPORTS, STUB], "is not in the answer"),
        ([IMPORTS, "layers = 1 / 0", STUB], "Cell 2 raises ZeroDivisionError: division by zero, in `layers = 1 / 0`"),
        ([IMPORTS, "layers_in_order = 3"], "pass your function itself"),
    ],
)
def test_obstacles_are_reported(tmp_path: Path, cells: list[str], says: str) -> None:
    notebook(tmp_path, *cells)
    outcome = attempt(tmp_path, FIRST)
    assert not outcome.passed
    assert says in outcome.text


def test_endless_cell_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempting, "SECONDS", -9.0)  # beside the ten seconds of an exercise
    notebook(tmp_path, IMPORTS, "while True: pass", SOLUTION)
    assert "did not finish in time" in attempt(tmp_path, FIRST).text


def test_the_sheet_saved_last_counts(tmp_path: Path) -> None:
    later(notebook(tmp_path, IMPORTS, STUB))
    script(tmp_path, IMPORTS, SOLUTION)
    assert attempt(tmp_path, FIRST).path == tmp_path / "00_first_graph.ipynb"
    later(later_script := script(tmp_path, IMPORTS, SOLUTION))
    os.utime(tmp_path / "00_first_graph.ipynb", (1, 1))
    outcome = attempt(tmp_path, FIRST)
    assert outcome.path == later_script and outcome.passed


# ---- the loop --------------------------------------------------------------------------------------------------------


def play(folder: Path, acts: Iterable[str | Path], exercises: list[About] = CHAPTER) -> int:
    """Run the loop with these keys; for a path among them, save the solution of the first exercise there."""
    waiting = iter(acts)

    def read_key(_: float) -> str:
        act = next(waiting, "q")
        if isinstance(act, Path):
            later(notebook(act, IMPORTS, SOLUTION))
            return ""
        return act

    return watch(folder, exercises, Progress(folder / NAME), read_key=read_key)


def test_a_save_is_checked_and_progress_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notebook(tmp_path, IMPORTS, STUB)
    assert play(tmp_path, ["h", "h", "h", tmp_path, "l"]) == 1
    shown = capsys.readouterr().out
    every, here = len(catalogue()), len(CHAPTER)
    assert f"0 of {every} solved · chapter 00: 0 of {here}" in shown
    assert f"1 of {every} solved · chapter 00: 1 of {here}" in shown
    assert f"Hint 1 of 2: {FIRST.hints[0]}" in shown and f"Hint 2 of 2: {FIRST.hints[1]}" in shown
    assert f"What if: {FIRST.what_if}" in shown and "Solved. Press n" in shown
    assert re.search(rf"✓ {FIRST.id} .*\n· {SECOND.id} ", shown)
    assert play(tmp_path, []) == 1
    again = capsys.readouterr().out
    assert SECOND.title in again and FIRST.title not in again


def test_progress_survives_a_broken_notebook_and_may_be_deleted_or_damaged(tmp_path: Path) -> None:
    notebook(tmp_path, IMPORTS, SOLUTION)
    play(tmp_path, [])
    (tmp_path / "00_first_graph.ipynb").write_text("{")
    state = Watch(tmp_path, CHAPTER, Progress(tmp_path / NAME))
    state.advance()
    assert state.count == 1 and state.current == SECOND and "is not a notebook" in state.last.text
    (tmp_path / NAME).write_text("{")
    assert FIRST.id not in Progress(tmp_path / NAME)
    assert (tmp_path / f"{NAME}.damaged").read_text() == "{"
    notebook(tmp_path, IMPORTS, SOLUTION)
    state = Watch(tmp_path, CHAPTER, Progress(tmp_path / NAME))
    state.advance()
    assert state.count == 1, "a solved exercise is found again without the file"


def test_the_exercise_notebooks_have_a_place_for_every_answer() -> None:
    for about in catalogue().values():
        sheet = sheets.read(ROOT / "exercises" / f"{about.chapter}.ipynb")
        cells = [cell for _, cell in sheet.needed_for(about.answer)]
        assert about.answer in cells[-1] and not any(cell.startswith("check(") for cell in cells)


def test_solved_exercises_are_listed_with_their_day(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from fxbook.__main__ import main

    (tmp_path / NAME).write_text(f'{{"solved": {{"{SECOND.id}": "2026-11-20T10:00:00"}}}}')
    assert main(["solved", "--folder", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert f"1 of {len(catalogue())} exercises solved" in shown and f"chapter 00: 1 of {len(CHAPTER)}" in shown
    assert re.search(rf"✓ 2026-11-20 +{SECOND.id} +{SECOND.title}", shown) and FIRST.title not in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--folder", "nowhere"], "There is no folder nowhere"), (["99"], "There is no exercise '99'")],
)
def test_wrong_arguments_are_reported(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    from fxbook.__main__ import main

    assert main(["watch", *arguments]) == 2
    assert says in capsys.readouterr().err
