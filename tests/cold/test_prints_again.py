"""Every notebook of the book, printed once more in a kernel of its own, is the committed one byte for byte (slow)."""

from __future__ import annotations

import asyncio

import pytest

from press import ROOT
from press.derive import Derived, manuscripts
from press.execution import execute, serialised
from press.freshness import derive_as_printed

PRINTED = [derived for path in manuscripts() for derived in derive_as_printed(path) if derived.executed]


@pytest.mark.parametrize("derived", PRINTED, ids=lambda derived: derived.path.relative_to(ROOT).as_posix())
def test_another_print_is_the_same_bytes(derived: Derived) -> None:
    assert serialised(asyncio.run(execute(derived))) == derived.path.read_text(encoding="utf-8")
