"""The exercise that CONTRIBUTING.md shows is one: the press takes it, its stub fails and its solution passes."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import fx, nn

import fxbook.asking.predicates as predicates
from fxbook.asking import Case, Exercise
from fxbook.checking import check_with
from press import ROOT
from press.book import the_book
from press.manuscript.task import read_task

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_exercise_shown_is_one(tmp_path: Any) -> None:
    shown = re.search(r"````markdown\n(.*?)````", TEXT, re.DOTALL)[1]
    path = tmp_path / "task.md"
    path.write_text(shown, encoding="utf-8")
    exercise = read_task(path, "01-double-the-input")
    chapter, _, place = exercise.read.partition("#")
    assert place in the_book().headings(chapter)

    specification = re.search(r"```python\n(class Doubled.*?)\n```", TEXT, re.DOTALL)[1]
    names = {"nn": nn, "torch": torch, "Case": Case, "Exercise": Exercise, **vars(predicates)}
    exec(specification.replace("\nExercise(", "\nshown = Exercise("), names)
    assert names["shown"].id == exercise.id
    for form, passes in ((exercise.stub, False), (exercise.solution, True)):
        defined: dict[str, Any] = {"torch": torch, "fx": fx}
        exec(form[0].source, defined)
        assert check_with(names["shown"], defined[exercise.answer]).passed == passes
