"""Sums over one dimension, over several and over all."""

from __future__ import annotations

from fxbook.asking import Case, Usage

from ..cases import MoreSums, Sums, rows

USAGE = Usage(
    "edit",
    cases=(
        Case("sums over one dimension and over all", Sums, rows()),
        Case("sums with other arguments", MoreSums, rows(), unseen=True),
    ),
)
