"""Every sentence of a task is checked: a wrong answer violates it, or it is listed as one that requires nothing.

In ``answers.py``, ``@breaks`` quotes the words of the task that a wrong answer violates, and names the case in which
the check finds that; :mod:`tests.checking.test_answers` tests the case. In ``task.md``, sentences that require nothing
are listed under ``<!-- tells``.
"""

from __future__ import annotations

import re

import pytest

from fxbook import tasks
from fxbook.tasks.answering import answers_to, breaks, right
from press.manuscript.sheet import TASK
from press.manuscript.task import Exercise, read_task

_SENTENCE = re.compile(r"(?<=[.:?!;])\s+")
_DOCSTRING = re.compile(r'"""(.*?)"""', re.S)
_LISTED = re.compile(r"^\s*(?:[-*]|\d+\.)\s+", re.M)
_FENCED = re.compile(r"^```.*?^```$", re.M | re.S)


@pytest.mark.parametrize("identity", tasks.ids())
def test_every_sentence_is_checked_or_requires_nothing(identity: str) -> None:
    exercise = read_task(tasks.folder_of(identity) / TASK, identity)
    clauses = [clause for one in answers_to(identity) for clause in one.clauses]
    text = sentences(exercise)
    covered = {sentence for sentence in text if any(clause in sentence for clause in clauses)}
    assert [sentence for sentence in text if sentence not in covered | {*exercise.tells}] == [], (
        "quote the sentence in an answer that breaks it, or list it under <!-- tells"
    )
    assert [sentence for sentence in exercise.tells if sentence not in text] == [], "is no longer in the text"
    places = [*text, docstring(exercise)]
    assert [clause for clause in clauses if not any(clause in place for place in places)] == [], (
        "is in neither the text nor the docstring"
    )
    assert clauses, "no sentence of the task requires anything"


@pytest.mark.parametrize("identity", tasks.ids())
def test_case_of_a_clause_exists(identity: str) -> None:
    exercise = tasks.find(identity)
    assert exercise
    names = {case.name for case in exercise.usage.cases}
    assert [one.name for one in answers_to(identity) if one.clauses and one.case not in names] == []


def test_clause_belongs_to_the_answer_below() -> None:
    @right
    def answer() -> None: ...

    with pytest.raises(TypeError, match="write @breaks above the @wrong of another"):

        @breaks("in place", case="a case")
        def another() -> None: ...


def sentences(exercise: Exercise) -> list[str]:
    """The sentences of a task, one per line, without code."""
    paragraphs = re.split(r"\n\s*\n", _LISTED.sub("\n", _FENCED.sub("", exercise.task)).strip())
    return [sentence for one in paragraphs for sentence in _SENTENCE.split(" ".join(one.split())) if sentence]


def docstring(exercise: Exercise) -> str:
    """The docstring of the stub on one line, or ``""``."""
    match = _DOCSTRING.search("\n".join(cell.source for cell in exercise.stub))
    return " ".join(match[1].split()) if match else ""
