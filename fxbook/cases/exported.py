"""Exported graphs for cases, alike on every torch."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import fx, nn

from fxbook.cases.exercise import seeded
from fxbook.exporting import unguarded


def exported_graph(model: nn.Module, *inputs: Any, functional: bool = False) -> fx.GraphModule:
    """The exported graph of a model, without a node that guards its inputs.

    Exporting takes seconds: keep the graph, and give each case a copy of it. The random numbers of the caller stay.

    Args:
        model: the model.
        inputs: the example to export it with.
        functional: whether the program is decomposed into calls that write nothing in place.
    """
    with seeded(0), warnings.catch_warnings():
        # torch's own code is what it warns of.
        warnings.simplefilter("ignore", FutureWarning)
        # Before torch 2.8 exporting was strict unless told otherwise.
        program = torch.export.export(model, inputs, strict=False)
        if functional:
            program = program.run_decompositions({})
        return unguarded(program)
