"""A long test run shows its progress, a line per part, failures at once, and skipped tests."""

from __future__ import annotations

from press import ROOT, proof


def test_every_listed_proof_has_a_test() -> None:
    files = (beginning.partition("::")[0] for beginning in proof.PROVES)
    assert [name for name in files if not (ROOT / name).exists()] == []
