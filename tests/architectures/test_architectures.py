"""Each finished pass keeps the results of each architecture and has the recorded effect (minutes)."""

from __future__ import annotations

import pytest
import torch
import yaml

from press import ROOT
from press.pages.architectures import RECORD
from tests.architectures import zoo
from tests.architectures.tried import TRIALS, Trial

_RECORDED = yaml.safe_load((ROOT / RECORD).read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def test_record_covers_these_passes_and_architectures() -> None:
    assert _RECORDED["passes"] == [trial.entry for trial in TRIALS]
    assert tuple(_RECORDED["architectures"]) == zoo.NAMES


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", range(len(TRIALS)), ids=[trial.does.replace(" ", "-") for trial in TRIALS])
@pytest.mark.parametrize("name", zoo.NAMES)
def test_pass_keeps_the_results_of_a_model(name: str, place: int) -> None:
    trial: Trial = TRIALS[place]
    assert trial.of(name) == _RECORDED["architectures"][name][place]
