"""Nothing is folded on paper: what one is to guess stands at the end of the page, under the number at its place."""

from __future__ import annotations

import pytest
from lxml import etree

from press.paper import markup
from press.paper.builder import settled

PAGE = """
<section id="a-chapter"><h1>01 · A chapter</h1>
<section id="a-claim"><h2>A claim</h2>
<div class="cell tag_hide-output"><div class="cell_input"><div class="highlight"><pre>f()\n</pre></div></div>
<details class="admonition hide below-input"><summary><p>Show the output</p><p>Hide the output</p></summary>
<div class="cell_output"><pre>forty-two</pre></div></details></div>
<p>As you saw.</p>
<details class="admonition hide above-input"><summary><p>Show the source</p></summary><p>the source</p></details>
<details><summary>7 more faults</summary><ul><li>a fault</li></ul></details> and on</section>
<section id="check-yourself"><h2>Check yourself</h2>
<details><summary>Is <code>x</code> a node?</summary><p>It is.</p></details></section>
<section id="before-you-begin"><h2>Before you begin</h2>
<details class="fx-asked"><summary>1. What runs?</summary><div class="highlight"><pre>g()\n</pre></div>
<details class="fx-choice fx-wrong"><summary>a. <code>f</code> runs.</summary><p>Wrong. It is stale.</p></details>
<details class="fx-choice fx-right"><summary>b. <code>g</code> runs.</summary><p>Right. It is new.</p></details>
</details></section>
<section id="a-task"><h2>A task</h2>
<details><summary>First hint</summary><p>look</p></details>
<details><summary>Second hint</summary><p>nearly there</p></details></section>
</section>
"""


@pytest.fixture(scope="module")
def page() -> etree._Element:
    return markup.read(settled(PAGE))


def words(tree: etree._Element, path: str) -> str:
    return markup.text(markup.find(tree, path)[0])


def test_no_fold_is_left(page: etree._Element) -> None:
    assert not markup.find(page, ".//h:details | .//h:summary")


def test_what_saves_room_is_opened_in_its_place(page: etree._Element) -> None:
    claim = words(page, ".//h:section[@id='a-claim']")
    assert "As you saw. the source 7 more faults" in claim and claim.endswith("a fault and on")


@pytest.mark.parametrize(
    ("place", "word", "end", "hidden"),
    [
        ("a-claim", "Output 1", "paper-outputs", "forty-two"),
        ("check-yourself", "Answer 1", "paper-answers", "It is."),
        ("a-task", "First hint 1", "paper-first-hints", "look"),
        ("a-task", "Second hint 1", "paper-hints", "nearly there"),
    ],
)
def test_what_one_is_to_guess_stands_at_the_end(
    page: etree._Element, place: str, word: str, end: str, hidden: str
) -> None:
    asked, told = words(page, f".//h:section[@id='{place}']"), words(page, f".//h:section[@id='{end}']")
    assert word in asked and hidden not in asked
    assert word in told and hidden in told


def test_a_question_stays_where_it_is_asked(page: etree._Element) -> None:
    assert "Is x a node?" in words(page, ".//h:section[@id='check-yourself']")


def test_the_choices_of_a_question_stay_and_their_reasons_have_one_number(page: etree._Element) -> None:
    asked = words(page, ".//h:section[@id='before-you-begin']")
    assert asked == "Before you begin 1. What runs?g() a. f runs. b. g runs. Answer 2"
    told = words(page, ".//h:div[@id='paper-answers-2']")
    assert told == "Answer 2 · 1. What runs?a. f runs.Wrong. It is stale.b. g runs.Right. It is new."


def test_each_place_leads_to_its_answer_and_back(page: etree._Element) -> None:
    ids = {element.get("id") for element in page.iter(etree.Element)}
    links = [link.get("href")[1:] for link in markup.of_class(page, "fx-page", "h:a")]
    assert len(links) == 10 and set(links) <= ids


def test_the_answers_come_after_everything_else(page: etree._Element) -> None:
    last = [section.get("id") for section in markup.find(page, "./h:section/h:section")][-4:]
    assert last == ["paper-outputs", "paper-answers", "paper-first-hints", "paper-hints"]
