"""Hostile calls to allowed operations harm nothing outside their process.

``benchmarks/fuzz.py`` runs many more, and reports those that crash.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from classroom.sandbox import Limits, Sandbox
from classroom.tests.sandbox import fuzzing
from classroom.tests.sandbox.sandboxing import brief
from classroom.tests.sandbox.test_judging_attacks import next_suffers

_NAMES = fuzzing.names_to_call()


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with fuzzing.fuzzing_sandbox(Limits()) as sandbox:
        yield sandbox


def test_every_allowed_name_is_drawn() -> None:
    assert len(_NAMES) > 1000
    assert all(len(fuzzing.drawn_calls(name, 1, 0)) == 1 for name in _NAMES)
    assert fuzzing.drawn_calls("torch.add", 3, 5) == fuzzing.drawn_calls("torch.add", 3, 5)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hostile_calls_harm_only_their_process(sandbox: Sandbox, seed: int) -> None:
    names = random.Random(seed).sample(_NAMES, 200)
    ends: dict[str, int] = {}
    calls = [call for name in names for call in fuzzing.drawn_calls(name, 1, seed)]
    with brief(sandbox, 3.0, 60.0):
        ended = fuzzing.run_calls(sandbox, calls, ends)
    assert ended in ("crash", "time") or ends["ran"] > 0
    assert not next_suffers(sandbox)


def test_endless_call_is_reported(sandbox: Sandbox) -> None:
    harmless = fuzzing.drawn_calls("torch.neg", 1, 0)
    assert fuzzing.run_calls(sandbox, harmless) == ""
    unending = [{"op": "call_function", "name": "n1", "target": {"function": "builtins.sum"}}]
    unending[0] |= {"args": {"tuple": [{"range": [0, 10**18, 1]}]}, "kwargs": {"dict": []}}
    wire = {**harmless[0].wire, "nodes": [harmless[0].wire["nodes"][0], *unending]}
    with brief(sandbox):
        assert fuzzing.run_calls(sandbox, [fuzzing.Drawn("sum", wire)]) == "time"
    assert not next_suffers(sandbox)
