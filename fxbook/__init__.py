"""What the notebooks of the book import: draw a graph, show an error, try front ends, check an answer, get a hint."""

import importlib
import sys

from fxbook import torch_here

# The oldest and the newest torch that the library was tried with.
TRIED_TORCH = "2.6", "2.15"
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
    "front_ends": "fxbook.frontends",
    "hint": "fxbook.catalogue",
    "how_often": "fxbook.passes.growing.strategy",
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
    """Say in one line that the torch here is none that the library was tried with. It is not imported for this."""
    installed = torch_here.installed()
    oldest, newest = map(torch_here.minor, TRIED_TORCH)
    # Where there is no torch, whatever needs it will say so.
    if installed and not oldest <= torch_here.minor(installed) <= newest:
        told = f"fxbook was tried with torch {' to '.join(TRIED_TORCH)}, and this is torch {installed}"
        print(f"{told}: outputs and messages may differ.", file=sys.stderr)


_tell_of_another_torch()
