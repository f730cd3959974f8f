"""The questions before the exercises have the right form, and code decides whether each choice is right."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from lxml import html
from markdown_it import MarkdownIt

from press.book import the_book
from press.manuscript.problems import PressError
from press.manuscript.questions import HEADING, Question, read_questions
from press.manuscript.sheet import ExerciseSheet

# Projects have no questions.
SHEETS = [sheet for sheet in the_book().sheets() if sheet.chapter[0].isdigit()]
ASKED = [(sheet, question) for sheet in SHEETS for question in sheet.questions]
FEWEST, MOST = 4, 6
LONGEST_REASON = 45
by_question = pytest.mark.parametrize(
    ("sheet", "question"),
    ASKED,
    ids=[f"{sheet.chapter[:2]}-{sheet.questions.index(question) + 1}" for sheet, question in ASKED],
)
by_sheet = pytest.mark.parametrize("sheet", SHEETS, ids=[sheet.chapter for sheet in SHEETS])


def error(function: Callable[[], object]) -> Exception | None:
    """The error that a call raises, or ``None``."""
    try:
        function()
    except Exception as raised:
        return raised
    return None


def holds(question: Question) -> list[bool]:
    """Run a question's code and return whether each choice is right."""
    names: dict[str, object] = {"error": error, "__name__": "a_question"}
    for source in (question.setup, question.code, question.proof):
        exec(compile(source, f"<{question.ask}>", "exec"), names)
    return [bool(eval(choice.holds, names)) for choice in question.choices]


@pytest.fixture(autouse=True)
def _leaves_torch_as_it_was() -> Iterator[None]:
    with torch.random.fork_rng(), torch.set_grad_enabled(torch.is_grad_enabled()):
        torch.manual_seed(0)
        yield


@by_question
def test_code_decides_which_choice_is_right(sheet: ExerciseSheet, question: Question) -> None:
    assert holds(question) == [choice.right for choice in question.choices]


@by_question
def test_questions_are_short(sheet: ExerciseSheet, question: Question) -> None:
    assert question.ask.endswith("?")
    assert len(question.code.splitlines()) <= 16
    assert max(map(len, question.code.splitlines()), default=0) <= 100
    assert all(len(choice.why.split()) <= LONGEST_REASON for choice in question.choices)
    assert all(choice.why.endswith((".", '."')) for choice in question.choices)
    assert len({choice.say for choice in question.choices}) == len(question.choices)
    # The notebook shows the verdict before the reason, so the reason must not repeat it.
    assert not any(choice.why.startswith(("Right", "Wrong", "No.", "No,", "No:", "Yes")) for choice in question.choices)


@by_sheet
def test_a_chapter_has_about_five_questions(sheet: ExerciseSheet) -> None:
    assert FEWEST <= len(sheet.questions) <= MOST
    assert len({question.ask + question.code for question in sheet.questions}) == len(sheet.questions)


@by_sheet
def test_position_of_the_right_choice_has_no_pattern(sheet: ExerciseSheet) -> None:
    places = [question.place for question in sheet.questions]
    assert len(set(places)) >= 3
    assert all(first != second for first, second in itertools.pairwise(places))


@by_sheet
def test_plain_markdown_shows_questions_choices_and_reasons(sheet: ExerciseSheet) -> None:
    path = the_book().targets(sheet.folder)[0]
    [cell] = [cell for cell in the_book().stored(path).cells if cell.source.startswith(f"## {HEADING}")]
    page = html.fromstring(f"<main>{MarkdownIt('commonmark').render(cell.source)}</main>")
    questions = page.findall("details")
    assert len(questions) == len(sheet.questions)
    for fold, question in zip(questions, sheet.questions, strict=True):
        assert (fold.find("pre") is not None) == bool(question.code)
        shown = fold.findall("details")
        verdicts = [choice.find("p/strong").text for choice in shown]
        assert verdicts == ["Right." if choice.right else "Wrong." for choice in question.choices]
        # A wrong choice links to the section with the answer.
        links = [[link.get("href") for link in choice.iterfind("p/a")] for choice in shown]
        place = f"../chapters/{sheet.chapter}.ipynb#{question.read}"
        assert links == [[] if choice.right else [place] for choice in question.choices]
        assert "`" not in "".join(text for summary in fold.iter("summary") for text in summary.itertext())


GOOD = """
[[question]]
ask = "Which?"
read = "a-section"
choice = [{say = "a", why = "A.", holds = "True", right = true}, {say = "b", why = "B.", holds = "False"}, LAST]
"""


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ('{say = "c", why = "C.", holds = "False", right = true}', "exactly one choice is right"),
        ('{say = "c", holds = "False"}', "a choice lacks 'why'"),
        ('{say = "c", why = "C."}', "a choice lacks 'holds'"),
        ('{say = "c", why = "C.", holds = "False", wrong = true}', "a choice has no key 'wrong'"),
        ("", "3 or 4 choices, but this one has 2"),
        ("{", "is not valid TOML"),
    ],
)
def test_malformed_question_is_rejected(tmp_path: Path, last: str, message: str) -> None:
    path = tmp_path / "questions.toml"
    path.write_text(GOOD.replace("LAST", last), encoding="utf-8")
    with pytest.raises(PressError) as rejected:
        read_questions(path)
    assert message in str(rejected.value)
