"""What the notebooks of the book import: draw a graph, show an error, try front ends, check an answer, get a hint."""

import importlib

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
