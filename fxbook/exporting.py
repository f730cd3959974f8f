"""The module of an exported program, alike on every torch."""

from __future__ import annotations

import inspect

from torch import fx
from torch.export import ExportedProgram


def unguarded(program: ExportedProgram) -> fx.GraphModule:
    """``program.module(check_guards=False)``: the module without a node that compares its inputs with the example.

    Before torch 2.9 no program guarded its inputs by a node, and ``module`` had no such option.
    """
    guards = "check_guards" in inspect.signature(program.module).parameters
    return program.module(check_guards=False) if guards else program.module()
