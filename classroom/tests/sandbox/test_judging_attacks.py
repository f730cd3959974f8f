"""Forged observations of any form harm neither the judge nor the next answer.

How an attack ends does not matter: a crash or timeout affects only the answer that caused it. :mod:`harm` defines harm.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Iterator

import pytest

from classroom.sandbox import Limits, Sandbox
from classroom.tests.sandbox import forging
from classroom.tests.sandbox.harm import Bait, Watch
from classroom.tests.sandbox.sandboxing import SEED
from classroom.tests.sandbox.sandboxing import sandbox as sandboxed

ALL = forging.forgeries()
# Observations of each attack; tests/cold tries all.
_FEW = 12


@pytest.fixture(scope="module")
def sandbox(bait: Bait) -> Iterator[Sandbox]:
    for sandbox in sandboxed(Limits()):
        assert not next_suffers(sandbox)
        yield sandbox


@pytest.fixture(scope="module")
def watch(bait: Bait, sandbox: Sandbox) -> Watch:
    return Watch(bait, next_in_turn(sandbox))


def next_suffers(sandbox: Sandbox) -> str:
    """The reason why known answers are no longer judged correctly, or ``""``."""
    return next(filter(None, (tried(sandbox) for tried in NEXT)), "")


def next_in_turn(sandbox: Sandbox) -> Callable[[], str]:
    """Check one known answer after each attack, in turn."""
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


def test_pass_from_claims_alone_is_reported(sandbox: Sandbox) -> None:
    """Otherwise a mark for claims alone would never count as harm."""
    claimed = forging.with_wire(forging.claims(forging.BUILD), lambda wire: wire.update(nodes=[{}]))
    refused = forging.with_claims(claimed, wire={"refused": "no"})
    judgement = sandbox.judge(forging.BUILD, refused, SEED).data
    assert judgement["rule"] == "" and not forging.is_unearned(forging.BUILD, judgement)
    assert forging.is_unearned(forging.BUILD, {**judgement, "unproven": []})


@pytest.mark.parametrize("forgery", ALL, ids=lambda forgery: forgery.name)
def test_forged_observation_does_no_harm(watch: Watch, sandbox: Sandbox, forgery: forging.Forgery) -> None:
    came = forging.tried(sandbox, forgery, _FEW)
    # The text goes into files and reports.
    came.text.encode()
    json.dumps(came.text)
    assert watch.harms(came) == []
