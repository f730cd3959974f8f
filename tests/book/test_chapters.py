"""A chapter has the length and parts that the style guide requires; each entry of its companion gives a cause."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fxbook.catalogue import catalogue
from press import ROOT
from press.book import COMPANIONS, the_book
from press.manuscript.reading import Manuscript, headings, prose_lines
from press.printing.transforms import FAULTS, GROUPS

FEWEST_WORDS, MOST_WORDS, MOST_CELLS = 1200, 1800, 45
LONGEST_CELL, LONGEST_IMPORTS = 25, 8
LAST_SECTIONS = ["When it breaks", "What people get wrong", "Check yourself", "In one page", "Exercises"]
QUESTIONS = 3
# Reading speed: words and lines of code per minute, and minutes per stepper.
WORDS_A_MINUTE, LINES_A_MINUTE, MINUTES_A_STEPPER = 180, 20, 1.5
NEAR = 5
INTRODUCTION = "book/intro.md"
LINKED_ANCHORS = json.loads((Path(__file__).parent / "linked_anchors.json").read_text(encoding="utf-8"))
CHAPTERS = list(the_book().chapters)
COMPANIONS_OF = {name: f"{COMPANIONS}/{name}" for name in CHAPTERS}


def chapter(name: str) -> Manuscript:
    return the_book().page(the_book().chapters[name])


def companion(name: str) -> Manuscript:
    return the_book().page(the_book().companions[COMPANIONS_OF[name]])


def prose(page: Manuscript) -> Iterator[str]:
    """The prose lines of a page, without headings, tables and markup."""
    for cell in page.cells:
        for _, line in prose_lines(cell):
            if not line.startswith(("#", "|", "<!--", "<a id")):
                yield re.sub(r"<[^>]+>", " ", re.sub(r"\]\([^)]*\)", "]", line))


def words(page: Manuscript) -> int:
    """The number of words in the prose; a dotted name counts as one."""
    return sum(len(re.findall(r"\w+(?:[.'_()]\w+)*", line)) for line in prose(page))


def part(page: Manuscript, heading: str) -> str:
    """The text of a second-level section, without code."""
    lines = [line for cell in page.cells for _, line in prose_lines(cell)]
    return "\n".join(lines).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapter_has_the_length_of_a_tutorial(name: str) -> None:
    page = chapter(name)
    assert FEWEST_WORDS <= words(page) <= MOST_WORDS
    assert sum(cell.kind == "code" for cell in page.cells) <= MOST_CELLS


@pytest.mark.parametrize("name", [*CHAPTERS, *COMPANIONS_OF.values()])
def test_cell_fits_the_page(name: str) -> None:
    page = the_book().page({**the_book().chapters, **the_book().companions}[name])
    code = [cell for cell in page.cells if cell.kind == "code"]
    shown = [cell for cell in code if "hide-input" not in cell.tags]
    assert [cell.line for cell in shown if len(cell.source.splitlines()) > LONGEST_CELL] == []
    assert len(shown[0].source.splitlines()) <= LONGEST_IMPORTS


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapter_has_the_required_parts(name: str) -> None:
    page = chapter(name)
    titles = list(headings(page).values())
    assert titles[0].startswith(f"{name[:2]} · ")
    sections = [line for cell in page.cells for _, line in prose_lines(cell) if line.startswith("## ")]
    assert [title.removeprefix("## ") for title in sections][-len(LAST_SECTIONS) :] == LAST_SECTIONS
    opening = "\n".join(itertools.takewhile(lambda line: not line.startswith("## "), prose(page)))
    for needed in ("*You will be able to*", "*You need*", "minutes"):
        assert needed in opening
    assert part(page, "Check yourself").count("<summary>") == QUESTIONS
    assert 3 <= part(page, "When it breaks").count("### ") <= 5
    assert FAULTS in part(page, "When it breaks")


def minutes(name: str) -> float:
    """The reading time, from words, lines of code and steppers."""
    page = chapter(name)
    lines = sum(len(cell.source.splitlines()) for cell in page.cells if cell.kind == "code")
    notebook = the_book().stored(the_book().targets(the_book().chapters[name])[0])
    shown = [output.get("data", {}) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    steppers = sum('class="fx-drawing fx-stepper"' in str(data.get("text/html", "")) for data in shown)
    return words(page) / WORDS_A_MINUTE + lines / LINES_A_MINUTE + steppers * MINUTES_A_STEPPER


@pytest.mark.parametrize("name", CHAPTERS)
def test_minutes_of_a_chapter_are_right(name: str) -> None:
    stated = re.search(r"\b(\d+) minutes", "\n".join(prose(chapter(name))))
    assert stated
    assert abs(int(stated[1]) - minutes(name)) <= NEAR, f"counted: {minutes(name):.0f}"


def test_introduction_states_the_time_of_each_path() -> None:
    table = re.findall(
        r"^\|(.+)\| (\d+) hours?(?: (\d+) minutes)?(?:, and (\d+) .*)? \|$", (ROOT / INTRODUCTION).read_text(), re.M
    )
    reading = {name[:2]: int(re.search(r"\b(\d+) minutes", "\n".join(prose(chapter(name))))[1]) for name in CHAPTERS}
    solving = sum(about.minutes for about in catalogue().values() if about.id[0].isdigit())
    *some, (_, hours, _, solved) = table
    assert [int(hours), int(solved)] == [round(minutes / 60) for minutes in (sum(reading.values()), solving)]
    assert len(some) == 3
    for cells, hours, minutes, _ in some:
        counted = sum(reading[number] for number in re.findall(r"\[(\d\d)\]", cells))
        # Four of the exercises take half an hour or more.
        assert abs(60 * int(hours) + int(minutes or 0) - counted - 35 * ("exercises" in cells)) <= NEAR


@pytest.mark.parametrize("name", CHAPTERS)
def test_prediction_comes_before_its_answer(name: str) -> None:
    assert sum("hide-output" in cell.tags for cell in chapter(name).cells) >= 3


@pytest.mark.parametrize("name", CHAPTERS)
def test_companion_entries_have_a_cause(name: str) -> None:
    page = companion(name)
    text = "\n".join(line for cell in page.cells for _, line in prose_lines(cell))
    for group in GROUPS:
        entries = part(page, group).split("### ")[1:]
        assert entries, group
        assert [entry.splitlines()[0] for entry in entries if "*Cause*: " not in entry] == []
    assert text.startswith(f"# {name[:2]} · When it breaks")
    assert f"(../{name}.ipynb" in text, "no link back to the chapter"


@pytest.mark.parametrize("name", CHAPTERS)
def test_former_anchors_still_work(name: str) -> None:
    notebook = the_book().stored(the_book().targets(the_book().chapters[name])[0])
    marked = {anchor for cell in notebook.cells for anchor in re.findall(r'<a id="([^"]+)"', cell.source)}
    # On the page, the anchor of the title has no number.
    known = marked | {re.sub(r"^\d\d--", "", anchor) for anchor in the_book().headings(name)}
    assert [anchor for anchor in LINKED_ANCHORS[name] if anchor not in known] == []
