"""What the notebooks of the book import: draw a graph, show an error, try front ends, check an answer, get a hint."""

import importlib

_HOME = {
    "EditStepper": "fxbook.stepping.edit.stepper",
    "RunStepper": "fxbook.stepping.run.stepper",
    "check": "fxbook.checking",
    "draw": "fxbook.drawing",
    "expect_error": "fxbook.errors",
    "front_ends": "fxbook.recordings",
    "hint": "fxbook.learning.exercises",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    """Import on first use: reading an exercise's title must not import torch."""
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'fxbook' has no attribute {name!r}")
