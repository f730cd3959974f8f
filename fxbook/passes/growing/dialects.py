"""Convert a graph to ATen operators, as ``torch.export`` does."""

from __future__ import annotations

import torch
from torch import fx
from torch.export import Dim

from fxbook.exporting import unguarded
from fxbook.passes.growing.inputs import inputs_for


def in_aten(module: fx.GraphModule) -> fx.GraphModule:
    """A random graph as an exported program: it runs on one row or more, with ``meta["val"]`` at each node.

    It keeps its in-place writes, as ``torch.export`` does.
    """
    inputs = inputs_for(module)
    program = torch.export.export(module, inputs, dynamic_shapes=[{0: Dim.AUTO}] * len(inputs))
    exported = unguarded(program)
    ends = (found.graph.find_nodes(op="placeholder") for found in (module, exported))
    for was, now in zip(*ends, strict=True):
        now.meta |= {key: was.meta[key] for key in ("range",) if key in was.meta}
    return exported
