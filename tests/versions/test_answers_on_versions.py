"""What pytest writes of the answers is recorded by what they are, and counted on the page of the versions."""

from __future__ import annotations

from press.book import the_book
from press.pages.versions import page_text
from press.versions import answers, record

_CASE = '<testcase name="{name}">{failure}</testcase>'
_FAILS = '<failure message="{says}&#10;  next line">somewhere</failure>'


def report(**cases: str) -> str:
    shown = [
        _CASE.format(name=name.replace("__", "["), failure=_FAILS.format(says=says) if says else "")
        for name, says in cases.items()
    ]
    return f"<testsuites><testsuite>{''.join(shown)}</testsuite></testsuites>"


def test_answers_are_told_apart_and_counted() -> None:
    count, wrong = answers.read(
        report(
            **{
                "test_right_answer_passes__00-x-one]": "",
                "test_right_answer_passes__00-x-two]": "AssertionError: not yet",
                "test_wrong_answer_is_told_its_mistake__00-x-three]": "assert not True",
                "test_wrong_answer_is_told_its_mistake__00-x-four]": "AssertionError: something else",
                "test_exercise_fails_as_handed_out__00-x]": "AssertionError: says something else",
            }
        )
    )
    assert count == 4
    assert wrong == {
        "00-x-two": "right and refused: AssertionError: not yet next line",
        "00-x-three": "wrong and passes: assert not True next line",
        "00-x-four": "wrong and told otherwise: AssertionError: something else next line",
        "00-x": "exercise: AssertionError: says something else next line",
    }


def test_the_page_counts_what_is_recorded() -> None:
    kept = record.read()
    text = page_text(the_book())
    for version in ("2.6.0", "2.15.0"):
        said = [by_version[version] for by_version in kept.answers.values() if version in by_version]
        kinds = (answers.REFUSED, answers.PASSES, answers.TOLD)
        counts = [len([one for one in said if one.startswith(kind + ":")]) for kind in kinds]
        assert f"| {version} | {counts[0]} | {counts[1]} | {counts[2]} |" in text
    for exercise in the_book().solutions_need:
        assert f"`{exercise}` needs torch" in text
