"""Each program shows its fault, and what the tools say of it is what the page prints (minutes)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from press import ROOT
from press.binding.environment import SetupError
from press.pages.wild import RECORD
from tests.wild.programs import PROGRAMS, interpreter, said

_RECORDED = yaml.safe_load((ROOT / RECORD).read_text(encoding="utf-8"))
# Another processor rounds otherwise.
_ROUNDED = re.compile(r"\d+\.\d+(e-?\d+)?")


@pytest.fixture(scope="module")
def python() -> Path:
    try:
        return interpreter()
    except SetupError as error:
        pytest.skip(f"the packages cannot be installed: {error}")


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_prints_what_is_recorded(program: str, python: Path) -> None:
    assert _ROUNDED.sub("…", said(python, program)) == _ROUNDED.sub("…", _RECORDED["said"][program])
