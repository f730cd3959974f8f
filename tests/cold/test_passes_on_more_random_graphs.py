"""Finished passes keep their invariants on ten times as many random graphs; torch's break as many as recorded."""

from __future__ import annotations

import pytest
import yaml

from press import ROOT
from press.pages.random_graphs import RECORD
from tests.cold import drawn
from tests.passes.tried import drawn as counting
from tests.passes.tried.chapters import TRIALS
from tests.passes.tried.faults import FAULTS
from tests.passes.tried.trial import Trial, in_operators

# Operators that make_fx recorded fit only the sizes, strides and device of its example, each in its own way.
OTHERS = [trial for trial in TRIALS if trial.captured is not in_operators and trial.name != "lower"]


@pytest.mark.parametrize("trial", drawn.some(OTHERS, 8), ids=lambda trial: f"{trial.chapter}-{trial.name}")
def test_a_pass_keeps_what_it_must(trial: Trial) -> None:
    assert counting.counted(trial, examples=10 * counting.EXAMPLES, drawn_from=drawn.NUMBER)["applied"]


@pytest.mark.parametrize("place", [place for place, fault in enumerate(FAULTS) if fault.limits is not None])
def test_torch_pass_breaks_as_many_graphs_as_recorded(place: int) -> None:
    recorded = yaml.safe_load((ROOT / RECORD).read_text(encoding="utf-8"))
    assert FAULTS[place].broken() == recorded["torch"][place]["broken"]
