"""Every fold of a page opened: what one is to guess first stands at the end of the page, all else where it is.

On the screen a reader opens the output of a prediction, an answer or a hint when it is wanted. On paper the place has a
number, and the end of the chapter has what it hides, under that number. The choices of a question are read in their
place, and the reasons of all of them have one number.
"""

from __future__ import annotations

import copy
import dataclasses

from lxml import etree

from press.paper.markup import E, classes, find, of_class, replace, text


@dataclasses.dataclass(frozen=True)
class Kind:
    """What folds of one kind are called at their place and at the end of the page."""

    word: str
    heading: str
    anchor: str


OUTPUT = Kind("Output", "Outputs to predict", "paper-outputs")
ANSWER = Kind("Answer", "Answers", "paper-answers")
FIRST, SECOND = (
    Kind("First hint", "First hints", "paper-first-hints"),
    Kind("Second hint", "Second hints", "paper-hints"),
)
KINDS = (OUTPUT, ANSWER, FIRST, SECOND)
_QUESTIONS = "check-yourself"
# A multiple choice: a fold around the question, and one around the reason of each choice.
_ASKED, _CHOICE = "fx-asked", "fx-choice"


def open_folds(tree: etree._Element) -> None:
    """Open all folds below the tree, which is the body of one page."""
    kept: dict[Kind, list[etree._Element]] = {kind: [] for kind in KINDS}
    for fold in of_class(tree, _ASKED, "h:details"):
        _open_choices(fold)
    # The inner ones first, so that a fold that moves has none left in it.
    for fold in reversed(find(tree, ".//h:details")):
        kind = kind_of(fold)
        if kind is None:
            _open(fold)
    for fold in find(tree, ".//h:details"):
        kind = kind_of(fold)
        assert kind
        kept[kind].append(_move(fold, kind, len(kept[kind]) + 1))
    sections = find(tree, "./h:section")
    end = sections[-1] if sections else tree
    for kind, answers in kept.items():
        if answers:
            end.append(E.section({"id": kind.anchor, "class": "fx-answers"}, E.h2(kind.heading), *answers))


def kind_of(fold: etree._Element) -> Kind | None:
    """What a fold hides from somebody who is to guess; none where it only saves room."""
    if "below-input" in classes(fold):
        return OUTPUT
    if _CHOICE in classes(fold):
        return ANSWER
    summary = text(_summary(fold))
    if hint := next((kind for kind in (FIRST, SECOND) if summary == kind.word), None):
        return hint
    inside = next((above.get("id") for above in fold.iterancestors() if above.get("id")), "")
    return ANSWER if inside == _QUESTIONS else None


def _summary(fold: etree._Element) -> etree._Element:
    found = find(fold, "./h:summary")
    return found[0] if found else E.summary()


def _open_choices(fold: etree._Element) -> None:
    """Leave a question and its choices where they are, and gather the reasons of the choices in a fold below them."""
    reasons = E.details({"class": _CHOICE}, E.summary(text(_summary(fold))))
    for choice in of_class(fold, _CHOICE, "h:details"):
        summary = _summary(choice)
        reasons.append(_renamed(copy.deepcopy(summary), "p", "fx-summary"))
        reasons.extend([child for child in choice if child is not summary])
        replace(choice, [_renamed(summary, "p", "fx-choice")])
    fold.append(reasons)


def _open(fold: etree._Element) -> None:
    """Put what a fold holds in its place, below its summary where that says something."""
    summary = _summary(fold)
    inner = [child for child in fold if child is not summary]
    opened = E.div({"class": " ".join(["fx-opened", *classes(fold)])})
    silent = {"hide", "fx-key"} & set(classes(fold)) or text(summary) == "The graph as a table"
    if not silent:
        opened.append(_renamed(summary, "p", "fx-summary"))
    if summary.tail and summary.tail.strip():
        opened.append(E.p(summary.tail.strip()))
    opened.extend(inner)
    replace(fold, [opened])


def _move(fold: etree._Element, kind: Kind, number: int) -> etree._Element:
    """Leave a number at the place of the fold; return what stands under it at the end of the page."""
    summary = _summary(fold)
    here, there = f"{kind.anchor}-{number}-asked", f"{kind.anchor}-{number}"
    word = f"{kind.word} {number}"
    link = E.p({"class": "fx-guess", "id": here}, E.a({"href": f"#{there}", "class": "fx-page"}, word))
    asked_here = kind is ANSWER and _CHOICE not in classes(fold)
    question = [_renamed(summary, "p", "fx-question")] if asked_here else []
    about = text(summary) if kind is ANSWER else _heading_above(fold)
    title = E.p({"class": "fx-answer-title"}, E.a({"href": f"#{here}", "class": "fx-page"}, word), f" · {about}")
    answer = E.div({"class": "fx-answer", "id": there}, title)
    answer.extend([child for child in fold if child is not summary])
    replace(fold, [*question, link])
    return answer


def _heading_above(element: etree._Element) -> str:
    """The heading of the section that an element stands in."""
    for above in element.iterancestors():
        for heading in find(above, "./h:h1|./h:h2|./h:h3|./h:h4"):
            return text(heading)
    return ""


def _renamed(element: etree._Element, tag: str, name: str) -> etree._Element:
    other = getattr(E, tag)({"class": name})
    other.text = element.text
    other.extend(list(element))
    return other
