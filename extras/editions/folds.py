"""Open every fold on a page.

A fold that hides something to guess is replaced by a number, and its content moves to the end of the page under that
number. The choices of a question stay in place, and their reasons share a number. All other folds open in place.
"""

from __future__ import annotations

from lxml.html import HtmlElement
from lxml.html.builder import E

from extras.editions.markup import find, replace, text

OUTPUT, ANSWER = "Output", "Answer"
LABELS = (OUTPUT, ANSWER, "First hint", "Second hint")
_QUESTIONS = "check-yourself"


def open_folds(page: HtmlElement) -> None:
    for question in find(page, ".//details[@class='fx-asked']"):
        _gather_reasons(question)
    # Inner folds are opened first, so that no fold contains another when it moves.
    for fold in reversed(find(page, ".//details")):
        if not label_of(fold):
            _open(fold)
    moved: dict[str, list[HtmlElement]] = {label: [] for label in LABELS}
    for fold in find(page, ".//details"):
        label = label_of(fold)
        moved[label].append(_move(fold, label, len(moved[label]) + 1))
    if answers := [answer for label in LABELS for answer in moved[label]]:
        end = (find(page, "./section") or [page])[-1]
        end.append(E.section({"id": "answers", "class": "fx-answers"}, E.h2("Answers"), *answers))


def label_of(fold: HtmlElement) -> str:
    """What a fold hides for the reader to guess, one of ``LABELS``; ``""`` if it only saves space."""
    if "below-input" in fold.classes:
        return OUTPUT
    summary = text(_summary(fold))
    if summary in LABELS:
        return summary
    section = next((above.get("id") for above in fold.iterancestors() if above.get("id")), "")
    return ANSWER if section == _QUESTIONS or "fx-choice" in fold.classes else ""


def _summary(fold: HtmlElement) -> HtmlElement:
    return next(iter(find(fold, "./summary")), E.summary())


def _gather_reasons(question: HtmlElement) -> None:
    """Leave the choices of a question in place, and gather their reasons in one fold below."""
    reasons = E.details({"class": "fx-choice"}, E.summary(text(_summary(question))))
    for choice in find(question, ".//details"):
        summary = _summary(choice)
        reasons.append(E.p({"class": "fx-summary"}, text(summary)))
        reasons.extend(choice[1:])
        replace(choice, [_as(summary, "fx-choice")])
    question.append(reasons)


def _open(fold: HtmlElement) -> None:
    summary = _summary(fold)
    opened = E.div({"class": " ".join(["fx-opened", *fold.classes])})
    if not ({"hide", "fx-key"} & set(fold.classes) or text(summary) == "The graph as a table"):
        opened.append(_as(summary, "fx-summary"))
    if summary.tail and summary.tail.strip():
        opened.append(E.p(summary.tail.strip()))
    opened.extend(child for child in fold if child.tag != "summary")
    replace(fold, [opened])


def _move(fold: HtmlElement, label: str, number: int) -> HtmlElement:
    there = f"{label.lower().replace(' ', '-')}-{number}"
    here = f"{there}-asked"
    asked = [_as(_summary(fold), "fx-question")] if label == ANSWER and "fx-choice" not in fold.classes else []
    about = text(_summary(fold)) if label == ANSWER else _heading_above(fold)
    title = E.p({"class": "fx-answer-title"}, E.a(f"{label} {number}", href=f"#{here}"), f" · {about}")
    answer = E.div({"class": "fx-answer", "id": there}, title)
    answer.extend(child for child in fold if child.tag != "summary")
    replace(fold, [*asked, E.p({"class": "fx-guess", "id": here}, E.a(f"{label} {number}", href=f"#{there}"))])
    return answer


def _heading_above(element: HtmlElement) -> str:
    return next(
        (text(found[0]) for above in element.iterancestors() if (found := find(above, "./h1|./h2|./h3|./h4"))), ""
    )


def _as(summary: HtmlElement, name: str) -> HtmlElement:
    paragraph = E.p({"class": name})
    paragraph.text = summary.text
    paragraph.extend(list(summary))
    return paragraph
