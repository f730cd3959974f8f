"""Exported graphs for cases, the same with every version of torch."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import fx, nn

from fxbook.cases.exercise import seeded
from fxbook.exporting import unguarded


def exported_graph(model: nn.Module, *inputs: Any, functional: bool = False) -> fx.GraphModule:
    """Export a model, without the node that guards its inputs.

    Exporting takes seconds: keep the graph, and give each case a copy of it. The caller's random state is preserved.
    ``functional`` decomposes the program into calls that write nothing in place.
    """
    with seeded(0), warnings.catch_warnings():
        # torch's own code causes these warnings.
        warnings.simplefilter("ignore", FutureWarning)
        # Before torch 2.8, export was strict by default.
        program = torch.export.export(model, inputs, strict=False)
        if functional:
            program = program.run_decompositions({})
        return unguarded(program)
