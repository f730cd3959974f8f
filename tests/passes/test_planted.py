"""Each planted fault is detected by one of its invariants, and no fault is reported for a correct pass."""

from __future__ import annotations

import pytest

from fxbook import check_pass
from tests.passes.planted.blind import BLIND
from tests.passes.planted.hidden import HIDDEN
from tests.passes.planted.missed import MISSED
from tests.passes.planted.noticed import NOTICED
from tests.passes.planted.outside import OUTSIDE
from tests.passes.planted.plant import Plant
from tests.passes.planted.right import RIGHT


def findings_on(plant: Plant) -> tuple[set[str], set[str]]:
    """The invariants that a pass breaks, and those that give advice."""
    report = check_pass(plant.run, plant.model(), plant.inputs)
    print(report)
    faults, advice = ({one.invariant for one in found} for found in (report.faults, report.advice))
    return faults, advice - {"changes"}


@pytest.mark.room(name="passes")
@pytest.mark.parametrize("plant", [*MISSED, *NOTICED, *OUTSIDE, *BLIND, *HIDDEN], ids=lambda plant: plant.name)
def test_a_planted_fault_is_noticed(plant: Plant) -> None:
    faults, advice = findings_on(plant)
    noticed = advice if plant.advised else faults
    assert noticed & set(plant.noticed_by)


@pytest.mark.room(name="passes")
@pytest.mark.parametrize("plant", RIGHT, ids=lambda plant: plant.name)
def test_no_fault_is_reported_for_a_correct_pass(plant: Plant) -> None:
    assert findings_on(plant)[0] == set()
