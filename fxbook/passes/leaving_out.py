"""Edits that remove something from a graph. The edited graph may not run, so the caller must check it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from torch import fx

Edit = Callable[[fx.Graph, dict[str, fx.Node]], None]
"""Changes a graph, given its nodes by name; raises an error if there is nothing to change."""
ENDS = ("placeholder", "output")


def size(graph: fx.Graph) -> tuple[int, int, int]:
    """A sort key that puts smaller graphs first: nodes other than inputs, then inputs, then parts of the result."""
    inputs = sum(node.op == "placeholder" for node in graph.nodes)
    return len(graph.nodes) - inputs, inputs, len(repr(graph.output_node().args))


def returning(names: Sequence[str]) -> Edit:
    def edit(graph: fx.Graph, nodes: dict[str, fx.Node]) -> None:
        graph.output_node().args = (nodes[names[0]] if len(names) == 1 else tuple(nodes[name] for name in names),)
        _plain(graph)

    return edit


def up_to(names: Sequence[str]) -> Edit:
    """End the graph after these nodes, and return those of them that none of these nodes use."""

    def edit(graph: fx.Graph, nodes: dict[str, fx.Node]) -> None:
        kept = {nodes[name] for name in names}
        ends = [name for name in names if nodes[name].users and not kept & nodes[name].users.keys()]
        returning(ends)(graph, nodes)

    return edit


def without(names: Sequence[str]) -> Edit:
    def edit(graph: fx.Graph, nodes: dict[str, fx.Node]) -> None:
        for name in names[::-1]:
            node = nodes[name]
            if node.users and (reads := node.all_input_nodes):
                node.replace_all_uses_with(_nearest(node, reads))
            if not node.users:
                # This includes nodes with side effects, which dead code elimination may keep.
                graph.erase_node(node)

    return edit


def instead(name: str, other: str) -> Edit:
    def edit(graph: fx.Graph, nodes: dict[str, fx.Node]) -> None:
        nodes[name].replace_all_uses_with(nodes[other])
        if nodes[name].op == "placeholder":
            without_inputs([name])(graph, nodes)

    return edit


def given(names: Sequence[str]) -> Edit:
    def edit(graph: fx.Graph, nodes: dict[str, fx.Node]) -> None:
        run, first = {nodes[name] for name in names}, next(iter(graph.nodes))
        for name in names:
            node = nodes[name]
            readers = node.users.keys() - run
            if readers and told(node) is not None:
                with graph.inserting_before(first):
                    fresh = graph.placeholder(f"{name}_given")
                fresh.meta = dict(node.meta)
                node.replace_all_uses_with(fresh, delete_user_cb=readers.__contains__)
                _plain(graph)

    return edit


def without_inputs(names: Sequence[str]) -> Edit:
    def edit(graph: fx.Graph, nodes: dict[str, fx.Node]) -> None:
        for name in names:
            graph.erase_node(nodes[name])
        _plain(graph)

    return edit


def _plain(graph: fx.Graph) -> None:
    """Take inputs and return results as the nodes do, without the pytrees of an exported graph."""
    graph.set_codegen(fx.graph.CodeGen())


def _nearest(node: fx.Node, reads: list[fx.Node]) -> fx.Node:
    """The input with the shape of the node, if there is one."""
    alike = [read for read in reads if told(read) == told(node)]
    return (alike or reads)[0]


def told(node: fx.Node) -> Any:
    """The shape of a node's value, if its meta has it."""
    value = next((node.meta[key] for key in ("tensor_meta", "val", "example_value") if key in node.meta), None)
    try:
        return tuple(value.shape)
    except Exception:
        return None


def sweep(graph: fx.Graph, spared: Collection[str]) -> None:
    for node in reversed(graph.nodes):
        if not node.users and node.op not in ENDS and node.name not in spared:
            graph.erase_node(node)
