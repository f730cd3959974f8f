"""Each program shows its fault, and its output is the one on the page (a minute)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from press import ROOT
from press.binding.environment import SetupError
from press.pages.wild import RECORD
from tests.wild.programs import PACKAGES, interpreter, outputs

_RECORDED = yaml.safe_load((ROOT / RECORD).read_text(encoding="utf-8"))
# Other processors round differently.
_ROUNDED = re.compile(r"\d+\.\d+(e-?\d+)?")


@pytest.fixture(scope="module")
def python() -> Path:
    try:
        return interpreter()
    except SetupError as error:
        pytest.skip(f"the packages cannot be installed: {error}")


@pytest.mark.parametrize("package", PACKAGES)
def test_programs_print_the_recorded_lines(package: str, python: Path) -> None:
    for program, lines in outputs(python, package).items():
        assert _without_rounding(lines) == _without_rounding(_RECORDED["said"][program]), program


def _without_rounding(lines: list[str]) -> list[str]:
    return [_ROUNDED.sub("…", line) for line in lines]
