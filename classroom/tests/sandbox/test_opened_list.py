"""Even if kernels that access memory out of bounds were allowed, a graph with them would only lose its own answer.

The allow-list is the second line of defence. These tests bypass it, so that only the sandbox is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from classroom.sandbox import Limits, Sandbox
from classroom.sandbox.contents import JUDGING
from classroom.tests.sandbox import forging
from classroom.tests.sandbox.forging import call, computing, ref
from classroom.tests.sandbox.harm import Bait, Came, Watch, laid
from classroom.tests.sandbox.sandboxing import SEED
from classroom.tests.sandbox.taking_over import sandbox_with
from classroom.tests.sandbox.test_judging_attacks import next_in_turn, next_suffers
from fxbook.observing.forked import Outcome

JSON = Any
OPENED = ("torch.native_batch_norm", "torch.as_strided", "torch.ctc_loss")
OPENED += ("torch.ops.aten.native_batch_norm.default", "torch.ops.aten._native_batch_norm_legit.default")
_OPENS = f"""
_on_the_list = function

def function(name):
    return operator.attrgetter(name.removeprefix("torch."))(torch) if name in {OPENED!r} else _on_the_list(name)
"""
_VICTIMS, _WORDS = 50, 4096
APART, MANY = (_WORDS // 2, _WORDS, 5000, 1 << 20, 1 << 40), (2, 4, 8, 4096)
WRITES = (OPENED[0], *OPENED[3:])
# The result is then right, and only the dead node that writes can be reported, if torch considers it dead.
_WRITTEN = {"", "no_dead_nodes"}


@pytest.fixture(scope="module")
def bait(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bait]:
    with laid(tmp_path_factory) as bait:
        yield bait


@pytest.fixture(scope="module")
def sandbox(bait: Bait) -> Iterator[Sandbox]:
    def change(room: str, files: dict[str, Any]) -> None:
        if room == JUDGING:
            files["classroom/judge/allowed.py"] += _OPENS

    with sandbox_with(change, Limits()) as sandbox:
        assert not next_suffers(sandbox)
        yield sandbox


@pytest.fixture(scope="module")
def watch(bait: Bait, sandbox: Sandbox) -> Watch:
    return Watch(bait, next_in_turn(sandbox))


def reads(observation: JSON) -> JSON:
    """Read seven numbers past the end of a tensor that has one."""
    inputs = [call("torch.zeros", [1, 8]), call("torch.zeros", 1), call("torch.ones", 8)]
    return computing(
        observation, *inputs, call("torch.native_batch_norm", ref(1), None, None, ref(2), ref(3), False, 0.0, 0.0)
    )


def writes(observation: JSON, name: str, words: int, apart: int) -> JSON:
    """Write this many ones into memory at this distance; the result is right if another tensor was hit."""
    inputs = [call("torch.ones", [2, words]), call("torch.zeros", _WORDS), call("torch.ones", words)]
    victims = [call("torch.zeros", _WORDS) for _ in range(_VICTIMS)]
    view = call("torch.as_strided", ref(2), [1], [apart])
    given = ref(1), None, None
    wrote = call(name, *given, ref(4 + _VICTIMS), ref(3), True, 1.0, 0.0)
    last = 5 + _VICTIMS
    reached = [call("torch.cat", [ref(4 + at) for at in range(_VICTIMS)]), call("torch.sum", ref(last + 1))]
    halves = [
        call("operator.getitem", ref(0), (..., slice(2, None))),
        call("operator.getitem", ref(0), (..., slice(0, 2))),
    ]
    turned = [call("torch.neg", ref(last + 3)), call("torch.cat", [ref(last + 5), ref(last + 4)], dim=-1)]
    result = [call("operator.gt", ref(last + 2), 0), call("torch.mul", ref(last + 6), ref(last + 7))]
    return computing(observation, *inputs, *victims, view, wrote, *reached, *halves, *turned, *result)


def counts(observation: JSON, index: int) -> JSON:
    """The loss with labels far out of bounds."""
    sizes = [call("torch.full", [1], 4), call("torch.full", [1], 2)]
    inputs = [call("torch.zeros", [4, 1, 3]), call("torch.full", [1, 2], index), *sizes]
    return computing(observation, *inputs, call("torch.ctc_loss", ref(1), ref(2), ref(3), ref(4), 0))


def judged(sandbox: Sandbox, observation: JSON) -> Outcome:
    return sandbox.judge(forging.BUILD, observation, SEED)


@pytest.mark.parametrize("index", [10**9, -(10**9), 10**4, 2**62])
def test_out_of_bounds_read_loses_its_answer(sandbox: Sandbox, watch: Watch, index: int) -> None:
    claims = forging.claims(forging.BUILD)
    for forged in (counts(claims, index), reads(claims)):
        outcome = judged(sandbox, forged)
        assert outcome.ended or outcome.data["rule"]
        assert watch.harms(Came(str(outcome))) == []


@pytest.mark.parametrize("name", WRITES)
def test_out_of_bounds_write_loses_its_answer(sandbox: Sandbox, watch: Watch, name: str) -> None:
    # Few and many words, near and far; tests/cold tries all.
    lose_their_answers(sandbox, watch, name, [(2, _WORDS // 2), (8, _WORDS), (4, 5000), (4096, 1 << 20), (2, 1 << 40)])


def lose_their_answers(sandbox: Sandbox, watch: Watch, name: str, places: Iterable[tuple[int, int]]) -> None:
    """Write at each place, and check for harm."""
    claims = forging.claims(forging.BUILD)
    ends = set()
    for words, apart in places:
        outcome = judged(sandbox, writes(claims, name, words, apart))
        ends.add(outcome.ended or outcome.data["rule"])
        assert watch.harms(Came(str(outcome))) == []
    assert ends & {*_WRITTEN, "crash"}, ends
