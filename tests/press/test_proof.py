"""What a long test run says was proven names tests that exist."""

from __future__ import annotations

from press import ROOT, proof


def test_every_listed_proof_has_a_test() -> None:
    files = (beginning.partition("::")[0] for beginning in proof.PROVES)
    assert [name for name in files if not (ROOT / name).exists()] == []
