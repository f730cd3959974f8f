"""The smallest graph that still fails: delta debugging of a graph, whichever front end made it.

torch has ``functorch.compile.minifier``, which carries the inputs along, and writes files and its progress. For a fault
of a pass there is no need of inputs: what fails is asked of a module alone.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from torch import fx
from torch.utils import _pytree as pytree

from fxbook.graph.record import record

Fails = Callable[[fx.GraphModule], Any]
Edit = Callable[[fx.Graph, dict[str, fx.Node]], None]
_ENDS = ("placeholder", "output")


def minimise(module: fx.GraphModule, fails: Fails, *, most: int = 2000) -> fx.GraphModule:
    """Make a graph smaller as long as it fails: fewer results, fewer nodes, fewer inputs.

    A run of nodes is left out, half of the graph at first, single nodes at last: whoever reads a node then reads what
    the node read, or a new input of its shape where ``meta`` tells the shape. No single step of this kind makes the
    graph that comes out smaller; some cleverer step may.

    Args:
        module: a module that fails; it stays as it is.
        fails: gets a copy, and returns whether it still fails in the way that is looked for. If it raises, it does not.
        most: after so many copies the smallest one so far is returned.

    Returns:
        A module with the graph, and with those weights and modules alone that it uses.

    Raises:
        ValueError: ``module`` does not fail.

    Example:
        >>> import torch
        >>> from fxbook import minimise
        >>> module = torch.fx.symbolic_trace(lambda x: (torch.relu(torch.sin(x)) + x.cos(), x * 2))
        >>> small = minimise(module, lambda module: any(node.target is torch.relu for node in module.graph.nodes))
        >>> [node.name for node in small.graph.nodes]
        ['x', 'relu', 'output']
    """
    return _Search(module, fails, most).smallest()


class _Search:
    def __init__(self, module: fx.GraphModule, fails: Fails, most: int) -> None:
        self.fails, self.left = fails, most
        self.module = copy.deepcopy(module)
        if not fails(copy.deepcopy(module)):
            raise ValueError("the module does not fail: give the one that does, and a function that is true of it")

    def smallest(self) -> fx.GraphModule:
        shrunk = True
        while shrunk and self.left > 0:
            shrunk = any([self._results(), self._runs(), self._singly(), self._inputs()])
        return self.module

    # ---- steps, each of which says whether it has made the graph smaller -----------------------------------------

    def _results(self) -> bool:
        """A node alone as the result, the earliest first; else one part of the result."""
        names = [node.name for node in self._nodes() if node.op != "output"]
        parts = self._results_now()
        if len(parts) > 1:
            for name in parts:
                if self._try(_returning(name)):
                    return True
        return any(self._try(_returning(name)) for name in names if [name] != parts)

    def _runs(self) -> bool:
        """Runs of nodes left out, from half of the graph to two nodes."""
        shrunk = False
        names = self._computing()
        size = len(names) // 2
        while size > 1:
            at = 0
            while at < len(names):
                if self._try(_without(names[at : at + size])):
                    shrunk, names = True, self._computing()
                else:
                    at += size
            size //= 2
        return shrunk

    def _singly(self) -> bool:
        """Single nodes: whoever reads one reads one of its inputs, or a new input."""
        shrunk = False
        for name in self._computing()[::-1]:
            node = next((node for node in self._nodes() if node.name == name), None)
            if node is None:
                continue
            edits: list[Edit] = [_instead(name, other.name) for other in node.all_input_nodes]
            edits.append(_as_input(name))
            shrunk |= any(self._try(edit) for edit in edits)
        return shrunk

    def _inputs(self) -> bool:
        """Inputs that nobody reads, and two inputs as one."""
        names = [node.name for node in self._nodes() if node.op == "placeholder"]
        fewer = sum(self._try(_without_input(name)) for name in names)
        names = [node.name for node in self._nodes() if node.op == "placeholder"]
        fewer += sum(self._try(_instead(new, old)) for old, new in itertools.combinations(names, 2))
        return fewer > 0

    # ---- trying --------------------------------------------------------------------------------------------------

    def _try(self, edit: Edit) -> bool:
        """Keep an edited copy if it is smaller and still fails."""
        for sweep in (_sweep_all, _sweep):
            candidate = self._edited(edit, sweep)
            if candidate is None or self.left <= 0:
                continue
            self.left -= 1
            try:
                still = bool(self.fails(copy.deepcopy(candidate)))
            except Exception:
                still = False
            if still:
                self.module = candidate
                return True
        return False

    def _edited(self, edit: Edit, sweep: Callable[[fx.Graph], None]) -> fx.GraphModule | None:
        graph = copy.deepcopy(self.module.graph)
        try:
            edit(graph, {node.name: node for node in graph.nodes})
            sweep(graph)
            graph.lint()
            candidate = fx.GraphModule(self.module, graph, type(self.module).__name__)
        except Exception:
            return None
        candidate.train(self.module.training)
        return candidate if _size(candidate.graph) < _size(self.module.graph) else None

    def _nodes(self) -> Iterator[fx.Node]:
        return iter(self.module.graph.nodes)

    def _computing(self) -> list[str]:
        return [node.name for node in self._nodes() if node.op not in _ENDS]

    def _results_now(self) -> list[str]:
        output = next(node for node in self._nodes() if node.op == "output")
        return list(dict.fromkeys(leaf.name for leaf in pytree.tree_leaves(output.args) if isinstance(leaf, fx.Node)))


def _size(graph: fx.Graph) -> tuple[int, int, int]:
    """Smaller is better: nodes that are no inputs, then inputs, then parts of the result."""
    inputs = sum(node.op == "placeholder" for node in graph.nodes)
    output = next(node for node in graph.nodes if node.op == "output")
    return len(graph.nodes) - inputs, inputs, len(repr(output.args))


# ---- edits -----------------------------------------------------------------------------------------------------------


def _returning(name: str) -> Edit:
    def edit(graph: fx.Graph, nodes: dict[str, fx.Node]) -> None:
        graph.output_node().args = (nodes[name],)
        _plain(graph)

    return edit


def _without(names: list[str]) -> Edit:
    def edit(graph: fx.Graph, nodes: dict[str, fx.Node]) -> None:
        for name in names[::-1]:
            if reads := nodes[name].all_input_nodes:
                nodes[name].replace_all_uses_with(_nearest(nodes[name], reads))

    return edit


def _instead(name: str, other: str) -> Edit:
    def edit(graph: fx.Graph, nodes: dict[str, fx.Node]) -> None:
        nodes[name].replace_all_uses_with(nodes[other])
        if nodes[name].op == "placeholder":
            graph.erase_node(nodes[name])
            _plain(graph)

    return edit


def _as_input(name: str) -> Edit:
    def edit(graph: fx.Graph, nodes: dict[str, fx.Node]) -> None:
        node = nodes[name]
        if _told(node) is None:
            raise ValueError("no shape is known")
        with graph.inserting_before(next(iter(graph.nodes))):
            given = graph.placeholder(f"{name}_given")
        given.meta = dict(node.meta)
        node.replace_all_uses_with(given)
        _plain(graph)

    return edit


def _without_input(name: str) -> Edit:
    def edit(graph: fx.Graph, nodes: dict[str, fx.Node]) -> None:
        graph.erase_node(nodes[name])
        _plain(graph)

    return edit


def _plain(graph: fx.Graph) -> None:
    """Take inputs and give results as the nodes have them: an exported graph packs them as its model did."""
    graph.set_codegen(fx.graph.CodeGen())


def _nearest(node: fx.Node, reads: list[fx.Node]) -> fx.Node:
    """The input that looks most like the value of the node."""
    alike = [read for read in reads if _told(read) == _told(node)]
    return (alike or reads)[0]


def _told(node: fx.Node) -> Any:
    told = node.meta.get("tensor_meta", node.meta.get("val"))
    return tuple(told.shape) if hasattr(told, "shape") else None


def _sweep_all(graph: fx.Graph) -> None:
    """Take out all that nobody reads, and what works in place with it."""
    for node in reversed(list(graph.nodes)):
        if not node.users and node.op not in _ENDS:
            graph.erase_node(node)


def _sweep(graph: fx.Graph) -> None:
    """Take out what nothing needs; what works in place stays."""
    dead = True
    while dead:
        dead = {node.name for node in record(graph) if "dead" in node.notes}
        for node in [node for node in graph.nodes if node.name in dead]:
            graph.erase_node(node)
