"""Hypothesis and torch are imported only by the tools that need them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from press import ROOT


def loaded(program: str) -> set[str]:
    """The heavy packages that a program has imported by its end."""
    heavy = ("torch", "hypothesis", "matplotlib")
    script = f"import sys\n{program}\nprint(*(name for name in {heavy} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("import fxbook", set()),
        ("from fxbook import check", {"torch"}),
        ("from fxbook import diff, check_pass, invariants, inputs_for, minimise, bisect, bisect_changes", {"torch"}),
        ("from fxbook import random_graph; random_graph(3)", {"torch"}),
        ("from fxbook import random_graphs; random_graphs()", {"torch", "hypothesis"}),
    ],
)
def test_only_what_is_needed_is_imported(program: str, expected: set[str]) -> None:
    assert loaded(program) == expected
