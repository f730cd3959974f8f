"""Graphs inside a graph: the branches of ``torch.cond``, the body of a loop, and a submodule traced by itself."""

from __future__ import annotations

from typing import Any

from torch import fx


def graphs_inside(graph: fx.Graph, above: tuple[fx.Graph, ...] = ()) -> dict[str, fx.GraphModule]:
    """The graph modules that nodes call, or fetch as operator arguments, by path; outer ones first.

    The graph needs an owning module. ``above`` are the graphs that contain it.
    """
    found: dict[str, fx.GraphModule] = {}
    for node in graph.nodes:
        if node.op in ("call_module", "get_attr") and node.target not in found:
            inner: Any = graph.owning_module
            for part in str(node.target).split("."):
                inner = getattr(inner, part, None)
            if isinstance(inner, fx.GraphModule) and inner.graph not in (graph, *above):
                found[str(node.target)] = inner
                deeper = graphs_inside(inner.graph, (graph, *above))
                found |= {f"{node.target}.{path}": module for path, module in deeper.items()}
    return found
