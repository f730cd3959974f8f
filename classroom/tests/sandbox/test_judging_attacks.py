"""An observation that is forged on purpose, of any form and with any graph, does no harm to the judge or the next one.

How an attack ends does not matter: a crash, or time that is over, costs its own answer. What harm is, :mod:`harm` says.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Iterator

import pytest

from classroom.sandbox import Limits, Sandbox
from classroom.tests.sandbox import forging
from classroom.tests.sandbox.harm import Bait, Watch, laid
from classroom.tests.sandbox.sandboxing import SEED
from classroom.tests.sandbox.sandboxing import sandbox as sandboxed

ALL = forging.forgeries()
# Of each attack; tests/cold tries all.
_FEW = 12


@pytest.fixture(scope="module")
def bait(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bait]:
    with laid(tmp_path_factory) as bait:
        yield bait


@pytest.fixture(scope="module")
def sandbox(bait: Bait) -> Iterator[Sandbox]:
    for sandbox in sandboxed(Limits()):
        assert not next_suffers(sandbox)
        yield sandbox


@pytest.fixture(scope="module")
def watch(bait: Bait, sandbox: Sandbox) -> Watch:
    return Watch(bait, next_in_turn(sandbox))


def next_suffers(sandbox: Sandbox) -> str:
    """Why a right answer is not judged as it should be, or a wrong one neither: ``""`` where all is well."""
    return next(filter(None, (tried(sandbox) for tried in NEXT)), "")


def next_in_turn(sandbox: Sandbox) -> Callable[[], str]:
    """The same of one answer after each attack, and of the others after those that follow it."""
    turns = itertools.cycle(NEXT)
    return lambda: next(turns)(sandbox)


def _right_suffers(exercise_id: str, sandbox: Sandbox) -> str:
    outcome = sandbox.judge(exercise_id, forging.truth(exercise_id), SEED)
    fine = outcome.data is not None and not outcome.data["rule"]
    return "" if fine else f"a right answer to {exercise_id} does not pass: {outcome}"


def _wrong_passes(sandbox: Sandbox) -> str:
    outcome = sandbox.judge(forging.BUILD, forging.claims(forging.BUILD), SEED)
    return "" if outcome.data and outcome.data["rule"] else f"a wrong answer passes: {outcome}"


NEXT = (
    *(functools.partial(_right_suffers, exercise_id) for exercise_id in (forging.BUILD, forging.PASS, forging.COMPUTE)),
    _wrong_passes,
)


def test_claims_alone_are_told_to_the_teacher(sandbox: Sandbox) -> None:
    """Else a mark for claims alone would count as harm nowhere."""
    claimed = forging.with_wire(forging.claims(forging.BUILD), lambda wire: wire.update(nodes=[{}]))
    refused = forging.with_claims(claimed, wire={"refused": "no"})
    judgement = sandbox.judge(forging.BUILD, refused, SEED).data
    assert judgement["rule"] == "" and not forging.is_unearned(forging.BUILD, judgement)
    assert forging.is_unearned(forging.BUILD, {**judgement, "unproven": []})


@pytest.mark.parametrize("forgery", ALL, ids=lambda forgery: forgery.name)
def test_a_forged_observation_does_no_harm(watch: Watch, sandbox: Sandbox, forgery: forging.Forgery) -> None:
    came = forging.tried(sandbox, forgery, _FEW)
    # It goes into files and reports.
    came.text.encode()
    json.dumps(came.text)
    assert watch.harms(came) == []
