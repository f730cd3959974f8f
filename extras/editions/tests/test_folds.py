"""No fold is left: what readers should guess is at the end of the page, under a number, and other folds are open."""

from __future__ import annotations

import pytest
from lxml.html import HtmlElement

from extras.editions.markup import find, read, text
from extras.editions.pages import settled

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
def page() -> HtmlElement:
    return read(settled(PAGE))


def section(page: HtmlElement, name: str) -> str:
    return text(find(page, f".//section[@id='{name}']")[0])


def test_no_fold_is_left(page: HtmlElement) -> None:
    assert not find(page, ".//details | .//summary")


def test_fold_that_saves_space_opens_in_place(page: HtmlElement) -> None:
    claim = section(page, "a-claim")
    assert "As you saw. the source 7 more faults" in claim and claim.endswith("a fault and on")


@pytest.mark.parametrize(
    ("place", "label", "hidden"),
    [
        ("a-claim", "Output 1", "forty-two"),
        ("check-yourself", "Answer 1", "It is."),
        ("a-task", "First hint 1", "look"),
        ("a-task", "Second hint 1", "nearly there"),
    ],
)
def test_hidden_answer_moves_to_the_end(page: HtmlElement, place: str, label: str, hidden: str) -> None:
    asked, answers = section(page, place), section(page, "answers")
    assert label in asked and hidden not in asked
    assert label in answers and hidden in answers
    assert find(page, "./section/section")[-1].get("id") == "answers"
    assert "Is x a node?" in section(page, "check-yourself")


def test_the_choices_of_a_question_stay_and_their_reasons_share_a_number(page: HtmlElement) -> None:
    assert section(page, "before-you-begin") == "Before you begin 1. What runs?g() a. f runs. b. g runs. Answer 2"
    [answer] = find(page, ".//div[@id='answer-2']")
    assert text(answer) == "Answer 2 · 1. What runs?a. f runs.Wrong. It is stale.b. g runs.Right. It is new."


def test_each_place_leads_to_its_answer_and_back(page: HtmlElement) -> None:
    links = [link.get("href")[1:] for link in find(page, ".//a")]
    assert len(links) == len(set(links)) == 10 and set(links) <= {element.get("id") for element in find(page, ".//*")}
