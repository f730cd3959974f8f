"""Finished passes keep their invariants on random graphs, and the record has the right counts."""

from __future__ import annotations

import pytest
import yaml

from press import ROOT
from press.pages.random_graphs import RECORD
from tests.passes.tried import drawn, faults
from tests.passes.tried.chapters import TRIALS
from tests.passes.tried.faults import FAULTS, Fault
from tests.passes.tried.trial import Trial

pytestmark = pytest.mark.room(name="passes")

_RECORDED = yaml.safe_load((ROOT / RECORD).read_text(encoding="utf-8"))


def test_the_record_covers_these_passes_and_programs() -> None:
    assert (_RECORDED["graphs"], _RECORDED["graphs_for_torch"]) == (drawn.EXAMPLES, faults.GRAPHS)
    assert len(_RECORDED["passes"]) == len(TRIALS)
    assert len(_RECORDED["torch"]) == len(FAULTS)


@pytest.mark.parametrize("place", range(len(TRIALS)), ids=[f"{trial.chapter}-{trial.name}" for trial in TRIALS])
def test_a_pass_keeps_what_it_must_on_random_graphs(place: int) -> None:
    trial: Trial = TRIALS[place]
    counts = drawn.counted(trial)
    # A pass that changes no graph proves nothing.
    assert counts["applied"] >= 3
    assert _RECORDED["passes"][place] == trial.entry | counts


@pytest.mark.parametrize("place", range(len(FAULTS)), ids=[f"{fault.name}-{fault.body}" for fault in FAULTS])
def test_a_pass_of_torch_changes_the_program(place: int) -> None:
    fault: Fault = FAULTS[place]
    entry = dict(_RECORDED["torch"][place])
    assert entry["before"] != entry["after"]
    broken = entry.pop("broken", None)
    assert (broken is None) is (fault.limits is None) and broken != 0
    assert entry == fault.entry
