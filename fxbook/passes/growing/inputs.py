"""What a graph is run on: tensors of the shapes that its placeholders tell of, drawn from a seed."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx


def inputs_for(module: fx.GraphModule, rows: int | None = 3, seed: int = 0) -> tuple[Any, ...]:
    """Inputs that go with a graph, in the order of its placeholders.

    Args:
        module: a random graph, or any whose placeholders have ``meta["tensor_meta"]`` (as ``ShapeProp`` makes it) or
            ``meta["val"]`` (as ``torch.export`` does).
        rows: the first dimension of every tensor; ``None`` leaves it as it is told.
        seed: the same seed gives the same numbers. Nobody else's random numbers are used up.

    Returns:
        A tensor for each placeholder; numbers are normally distributed, whole numbers and truth values are 0 and 1.

    Raises:
        ValueError: the meta of a placeholder tells no shape; the message says what to do.

    Example:
        >>> from fxbook import inputs_for, random_graph
        >>> module = random_graph(7)
        >>> [tuple(tensor.shape) for tensor in inputs_for(module, rows=5)][0]
        (5, 4)
    """
    generator = torch.Generator().manual_seed(seed)
    return tuple(_drawn(node, rows, generator) for node in module.graph.nodes if node.op == "placeholder")


def _drawn(node: fx.Node, rows: int | None, generator: torch.Generator) -> Any:
    told = node.meta.get("tensor_meta", node.meta.get("val"))
    if told is None and node.args:
        return node.args[0]
    if not hasattr(told, "shape") or not hasattr(told, "dtype"):
        raise ValueError(
            f"the placeholder `{node.name}` tells no shape: give the inputs yourself, or run "
            "torch.fx.passes.shape_prop.ShapeProp(module).propagate(*inputs) once"
        )
    shape = [int(size) for size in told.shape]
    if rows is not None and shape:
        shape[0] = rows
    if told.dtype.is_floating_point or told.dtype.is_complex:
        return torch.randn(shape, generator=generator, dtype=told.dtype)
    return torch.randint(0, 2, shape, generator=generator, dtype=told.dtype)
