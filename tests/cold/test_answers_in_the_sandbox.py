"""Answers get the same report in the sandbox as in a notebook."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from classroom.sandbox import Limits, Sandbox
from classroom.tests.sandbox.sandboxing import observe_known
from classroom.tests.sandbox.sandboxing import sandbox as sandboxed
from fxbook import tasks
from fxbook.catalogue import about
from fxbook.checking.judge import judge
from fxbook.checking.report import Report
from fxbook.tasks.answering import KnownAnswer
from tests.checking.test_answers import ANSWERS, SEED
from tests.cold import drawn

ALL = [(identity, number, answer) for identity, answers in ANSWERS.items() for number, answer in enumerate(answers)]
ROWS = drawn.some(ALL, 160)
# Rules whose reports may depend on the search for the first wrong node.
_SEARCHED = ("same_result", "same_output", "layer_in_training", "pairs_compute_the_same")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    yield from sandboxed(Limits())


@pytest.mark.parametrize(("identity", "number", "answer"), ROWS, ids=[f"{row[0]}-{row[2].name}" for row in ROWS])
def test_report_is_the_same_in_the_sandbox(sandbox: Sandbox, identity: str, number: int, answer: KnownAnswer) -> None:
    """The answer is observed in one room, then judged by the notebook's judge and in the judging room."""
    exercise = tasks.find(identity)
    outcome = observe_known(sandbox, identity, number, SEED)
    assert exercise and outcome.data and outcome.data["observation"], outcome
    report = Report(about(identity), judge(exercise, outcome.data["observation"], SEED))
    node = report.node.name if report.node else None
    assert report.passed == (not answer.violated)
    assert is_reported(answer, report.violated or "", node, report.message), repr(report)
    judged = sandbox.judge(identity, outcome.data["observation"], SEED)
    verdict = judged.data
    assert verdict and is_reported(answer, verdict["rule"], verdict["node"] or None, verdict["message"]), judged


def is_reported(answer: KnownAnswer, rule: str, node: str | None, message: str) -> bool:
    """Whether this is the expected report, or one on a wrong result without a search for the first wrong node.

    Only a check in a notebook makes that search, so only there can the report name a node nearer to the mistake than
    the output. Without the search, a weight that the answer changed explains a wrong result.
    """
    if rule == "nothing_left" != answer.violated:
        return "has different values" in message
    if answer.violated in _SEARCHED and rule in ("same_result", "same_output") and node == "output" != answer.node:
        return "he result is not the one asked for" in message
    return (rule, node) == (answer.violated, answer.node) and answer.says in message
