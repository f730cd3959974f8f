"""An answer is observed in the sandbox as well as in a notebook, and is told the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from classroom.sandbox import Limits, Sandbox
from fxbook import tasks
from fxbook.checking.judge import judge
from fxbook.checking.report import Report
from fxbook.graph.record import NodeRecord
from fxbook.learning.exercises import about
from fxbook.tasks.answering import KnownAnswer
from tests.checking.test_answers import ANSWERS, SEED
from tests.classroom.sandbox.sandboxing import observe_known
from tests.classroom.sandbox.sandboxing import sandbox as sandboxed
from tests.cold import drawn

ALL = [(identity, number, answer) for identity, answers in ANSWERS.items() for number, answer in enumerate(answers)]
ROWS = drawn.some(ALL, 160)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    yield from sandboxed(Limits.here())


@pytest.mark.parametrize(("identity", "number", "answer"), ROWS, ids=[f"{row[0]}-{row[2].name}" for row in ROWS])
def test_answer_is_told_the_same_in_the_sandbox(
    sandbox: Sandbox, identity: str, number: int, answer: KnownAnswer
) -> None:
    """Observed in one room, and judged by the half that runs in a notebook and in the room where graphs are rebuilt."""
    exercise = tasks.find(identity)
    outcome = observe_known(sandbox, identity, number, SEED)
    assert exercise and outcome.data and outcome.data["observation"], outcome
    report = Report(about(identity), judge(exercise, outcome.data["observation"], SEED))
    assert (report.violated or "") == answer.violated and _named(report.node) in _nodes(answer), repr(report)
    assert report.passed == (not answer.violated) and answer.says in report.message
    judged = sandbox.judge(identity, outcome.data["observation"], SEED)
    verdict = judged.data
    assert verdict and verdict["rule"] == answer.violated and (verdict["node"] or None) in _nodes(answer), judged
    assert answer.says in verdict["message"]


def _named(node: NodeRecord | None) -> str | None:
    return node.name if node else None


def _nodes(answer: KnownAnswer) -> tuple[str | None, ...]:
    """A check in a notebook looks inside a wrong result once more, and may find a node nearer to the fault."""
    return (answer.node, "output") if answer.violated == "same_result" else (answer.node,)
