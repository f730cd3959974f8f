"""Tools for authors of passes over ``torch.fx`` graphs. They work on copies and leave their arguments unchanged.

- ``check_pass(run, module)`` checks everything that a pass must preserve; ``invariants`` lists the checks.
- ``diff(before, after)`` shows what a pass changed. ``draw``, ``EditStepper`` and ``RunStepper`` show a graph, its
  edits and a run of it; ``front_ends`` compares the ways to record a program.
- ``random_graph(seed)`` and, for Hypothesis, ``random_graphs()`` make graphs to try a pass on; ``inputs_for(module)``
  makes inputs.
- ``minimise(module, fails)`` shrinks a failing graph, ``bisect`` and ``bisect_changes`` find what broke it.
- ``run_passes(module, passes)`` shows what each pass of a list did, and can skip some by name.
- ``expect_error(kind, part)`` asserts an error. ``check`` and ``hint`` come with the exercises of the book.

Every tool has an example in its docstring: ``help(fxbook.check_pass)``.
"""

import importlib
import importlib.util
import sys
from importlib import metadata
from typing import TYPE_CHECKING

from fxbook import torch_here

if TYPE_CHECKING:
    from fxbook.catalogue import hint as hint
    from fxbook.checking.verify import check as check
    from fxbook.drawing import draw as draw
    from fxbook.errors import expect_error as expect_error
    from fxbook.frontends import front_ends as front_ends
    from fxbook.lab.lab import Lab as Lab
    from fxbook.passes import invariants as invariants
    from fxbook.passes.bisecting import bisect as bisect
    from fxbook.passes.bisecting import bisect_changes as bisect_changes
    from fxbook.passes.checking import check_pass as check_pass
    from fxbook.passes.comparing.difference import diff as diff
    from fxbook.passes.growing.inputs import inputs_for as inputs_for
    from fxbook.passes.growing.strategy import how_often as how_often
    from fxbook.passes.growing.strategy import random_graph as random_graph
    from fxbook.passes.growing.strategy import random_graphs as random_graphs
    from fxbook.passes.minimising import minimise as minimise
    from fxbook.passes.pipeline import run_passes as run_passes
    from fxbook.passes.reproducing import write_repro as write_repro
    from fxbook.stepping.edit.stepper import EditStepper as EditStepper
    from fxbook.stepping.run.stepper import RunStepper as RunStepper

    __version__: str

# The oldest and the newest version of torch that the library was tested with.
TRIED_TORCH = "2.6", "2.15"
# The imports above, for Python: each happens at the first use of the name, since torch takes seconds to import.
_HOME = {
    "EditStepper": "fxbook.stepping.edit.stepper",
    "RunStepper": "fxbook.stepping.run.stepper",
    "bisect": "fxbook.passes.bisecting",
    "bisect_changes": "fxbook.passes.bisecting",
    "check_pass": "fxbook.passes.checking",
    "diff": "fxbook.passes.comparing.difference",
    "draw": "fxbook.drawing",
    "expect_error": "fxbook.errors",
    "front_ends": "fxbook.frontends",
    "how_often": "fxbook.passes.growing.strategy",
    "inputs_for": "fxbook.passes.growing.inputs",
    "invariants": "fxbook.passes",
    "minimise": "fxbook.passes.minimising",
    "random_graph": "fxbook.passes.growing.strategy",
    "random_graphs": "fxbook.passes.growing.strategy",
    "run_passes": "fxbook.passes.pipeline",
    "write_repro": "fxbook.passes.reproducing",
}
_OF_EXERCISES = {"Lab": "fxbook.lab", "check": "fxbook.checking", "hint": "fxbook.catalogue"}
_has_exercises = importlib.util.find_spec("fxbook.catalogue") is not None
__all__ = sorted({**_HOME, **_OF_EXERCISES} if _has_exercises else _HOME)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import on first use: reading an exercise's title must not import torch."""
        if name == "__version__":
            return _version()
        if name in _OF_EXERCISES and not _has_exercises:
            raise ImportError(
                f"fxbook.{name} comes with the exercises of the book: run `pip install ./fxbook` in its folder."
            )
        home = _HOME.get(name) or _OF_EXERCISES.get(name)
        if home is None:
            raise AttributeError(f"module 'fxbook' has no attribute {name!r}")
        return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__", *globals()]


def _version() -> str:
    try:
        return metadata.version("fxbook")
    except metadata.PackageNotFoundError:
        # A copied folder, like the one that students get.
        return "0+unknown"


def _tell_of_another_torch() -> None:
    """Warn if the library was not tried with the installed torch. This does not import torch."""
    installed = torch_here.installed()
    oldest, newest = map(torch_here.minor, TRIED_TORCH)
    # If torch is missing, the module that needs it raises an error.
    if installed and not oldest <= torch_here.minor(installed) <= newest:
        told = f"fxbook was tested with torch {' to '.join(TRIED_TORCH)}, but this is torch {installed}"
        print(f"{told}: outputs and messages may differ.", file=sys.stderr)


_tell_of_another_torch()
