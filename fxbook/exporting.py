"""Get the module of an exported program in the same form with every version of torch."""

from __future__ import annotations

import inspect

from torch import fx
from torch.export import ExportedProgram


def unguarded(program: ExportedProgram) -> fx.GraphModule:
    """``program.module(check_guards=False)``: the module without the node that compares its inputs with the example.

    Before torch 2.9, programs had no such node, and ``module`` had no such option.
    """
    guards = "check_guards" in inspect.signature(program.module).parameters
    return program.module(check_guards=False) if guards else program.module()
