"""What the notebooks of the book import: draw a graph, show an error, try front ends, check an answer, get a hint."""

import importlib
import importlib.metadata
import sys

TRIED_TORCH = "2.13"
_HOME = {
    "EditStepper": "fxbook.stepping.edit.stepper",
    "RunStepper": "fxbook.stepping.run.stepper",
    "bisect": "fxbook.passes.bisecting",
    "bisect_changes": "fxbook.passes.bisecting",
    "check": "fxbook.checking",
    "check_pass": "fxbook.passes.invariants",
    "diff": "fxbook.passes.comparing.difference",
    "draw": "fxbook.drawing",
    "expect_error": "fxbook.errors",
    "front_ends": "fxbook.recordings",
    "hint": "fxbook.learning.exercises",
    "inputs_for": "fxbook.passes.growing.inputs",
    "invariants": "fxbook.passes",
    "minimise": "fxbook.passes.minimising",
    "random_graph": "fxbook.passes.growing.strategy",
    "random_graphs": "fxbook.passes.growing.strategy",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    """Import on first use: reading an exercise's title must not import torch."""
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'fxbook' has no attribute {name!r}")


def _tell_of_another_torch() -> None:
    """Say in one line that the torch here is not the one that the book was tried with. It is not imported for this."""
    try:
        installed = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return  # whatever needs torch will say so
    if not installed.startswith(f"{TRIED_TORCH}."):
        told = f"fxbook was tried with torch {TRIED_TORCH}, and this is torch {installed}"
        print(f"{told}: outputs and messages may differ.", file=sys.stderr)


_tell_of_another_torch()
