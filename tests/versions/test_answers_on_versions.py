"""pytest's results for answers are sorted by kind and counted on the page about versions."""

from __future__ import annotations

import pytest

from press.book import the_book
from press.pages.versions import page_text
from press.versions import answers, record
from press.versions.cells import Difference
from press.versions.outputs import Shown
from press.versions.record import BEHAVIOUR

_CASE = '<testcase name="{name}">{failure}</testcase>'
_FAILS = '<failure message="{says}&#10;  next line">somewhere</failure>'


def report(**cases: str) -> str:
    shown = [
        _CASE.format(name=name.replace("__", "["), failure=_FAILS.format(says=says) if says else "")
        for name, says in cases.items()
    ]
    return f"<testsuites><testsuite>{''.join(shown)}</testsuite></testsuites>"


def test_answers_are_counted_by_kind() -> None:
    count, wrong = answers.read(
        report(
            **{
                "test_right_answer_passes__00-x-one]": "",
                "test_right_answer_passes__00-x-two]": "AssertionError: not yet",
                "test_wrong_answer_gets_its_report__00-x-three]": "assert not True",
                "test_wrong_answer_gets_its_report__00-x-four]": "AssertionError: something else",
                "test_exercise_fails_as_handed_out__00-x]": "AssertionError: says something else",
            }
        )
    )
    assert count == 4
    assert wrong == {
        "test_right_answer_passes[00-x-two]": "refused: AssertionError: not yet",
        "test_wrong_answer_gets_its_report[00-x-three]": "passing: assert not True",
        "test_wrong_answer_gets_its_report[00-x-four]": "misjudged: AssertionError: something else",
        "test_exercise_fails_as_handed_out[00-x]": "exercise: AssertionError: says something else",
    }
    assert answers.counted(wrong) == {"refused": 1, "passing": 1, "misjudged": 1}


@pytest.mark.parametrize(
    ("notebook", "printed", "here", "failing"),
    [
        ("solutions/03.ipynb", "03-x (Clean up): solved.", "03-x (Clean up): not yet. It", "03-x"),
        ("solutions/03.ipynb", "03-x (Clean up): solved.", "03-x (Up): solved.", ""),
        ("chapters/03.ipynb", "03-x (Clean up): solved.", "03-x (Clean up): not yet. It", ""),
        ("solutions/03.ipynb", "", "03-x (Clean up): not yet. It", ""),
    ],
)
def test_a_solution_that_fails_is_named(notebook: str, printed: str, here: str, failing: str) -> None:
    one = Difference(notebook, "", "", Shown({"stdout": (printed,)}), Shown({"stdout": (here,)}), BEHAVIOUR)
    assert answers.failing_solution(one) == failing


def test_the_page_shows_the_recorded_counts() -> None:
    text = page_text(the_book())
    counts = record.read().versions["2.6.0"]
    assert "| 2.6.0 | " + " | ".join(str(counts[kind]) for kind in record.JUDGED) + " |" in text
    assert the_book().solutions_need
    for exercise, version in the_book().solutions_need.items():
        assert f"`{exercise}` needs torch {version}" in text
