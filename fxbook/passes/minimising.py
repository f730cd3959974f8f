"""Find the smallest graph that still fails, by delta debugging, for a graph from any front end.

torch has ``functorch.compile.minifier``, which needs inputs, writes files and prints its progress. Finding a fault in a
pass needs no inputs: the condition depends on the module alone.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Collection
from typing import Any

from torch import fx
from torch.utils import _pytree as pytree

from fxbook.graph.nested import graphs_inside
from fxbook.graph.record import not_traced, record
from fxbook.passes.leaving_out import (
    ENDS,
    Edit,
    given,
    instead,
    returning,
    size,
    sweep,
    told,
    up_to,
    without,
    without_inputs,
)

Fails = Callable[[fx.GraphModule], Any]
_FEW = 8
"""With at most this many inputs, every pair is tried as one input."""


def minimise(module: fx.GraphModule, fails: Fails, *, most: int = 2000) -> fx.GraphModule:
    """Shrink a graph as long as it still fails: fewer results, fewer nodes, fewer inputs.

    First the list is cut at both ends, by halving. Then runs of nodes are removed, from half of the graph down to
    single nodes. Users of a removed node use its input instead, or a new input if ``meta`` has the shape. Nested
    graphs (a branch of ``torch.cond``, a submodule that is a ``GraphModule``) are also shrunk, but keep their inputs
    and results. The result is minimal for steps of this kind; a cleverer step might still shrink it.

    Args:
        module: a module that fails; it is not changed.
        fails: takes a copy and returns whether it still fails in the way you are looking for. An error counts as no.
        most: the number of copies to try before the smallest one so far is returned.

    Returns:
        A module with the shrunk graph, and only the weights and modules that the graph uses. ``write_repro`` turns it
        into a program that runs on its own.

    Raises:
        TypeError: ``module`` is not a ``GraphModule``; the message says what to pass.
        ValueError: ``module`` does not fail, or ``fails`` raises an error for it.

    Example:
        >>> import torch
        >>> from fxbook import minimise
        >>> module = torch.fx.symbolic_trace(lambda x: (torch.relu(torch.sin(x)) + x.cos(), x * 2))
        >>> small = minimise(module, lambda module: any(node.target is torch.relu for node in module.graph.nodes))
        >>> [node.name for node in small.graph.nodes]
        ['x', 'relu', 'output']
    """
    if not isinstance(module, fx.GraphModule):
        raise not_traced(module)
    return _Search(module, fails, most).smallest()


class _Search:
    def __init__(self, module: fx.GraphModule, fails: Fails, most: int) -> None:
        self.fails, self.left = fails, most
        self.module = copy.deepcopy(module)
        self._no: set[tuple[str, str]] = set()
        self._impure: dict[str, frozenset[str]] = {}
        try:
            failed = fails(copy.deepcopy(module))
        except Exception as error:
            raise ValueError(
                f"`fails` raised {type(error).__name__} when called with the module itself, before anything was "
                "removed: catch it in `fails`, and return True if it is the failure that you are looking for, "
                "otherwise False"
            ) from error
        if not failed:
            raise ValueError(
                "the module does not fail: pass a module that fails, and a function that returns True for it"
            )

    def smallest(self) -> fx.GraphModule:
        shrunk = True
        while shrunk and self.left > 0:
            shrunk = any([self._end(), self._results(), self._beginning(), self._leave_out(""), self._inputs()])
            # Nested graphs come last, since most of them are gone by then.
            for path in graphs_inside(self.module.graph):
                shrunk |= path in graphs_inside(self.module.graph) and self._leave_out(path)
        return self.module

    def _end(self) -> bool:
        """Find the shortest failing prefix of the list by bisection; its last node becomes the result if possible."""
        names = self._steps()
        low, high, shrunk = 0, len(names) - 1, False
        while low < high:
            middle = (low + high) // 2
            if self._try("", returning([names[middle]]), up_to(names[: middle + 1])):
                there, shrunk = set(self._steps()), True
                low = sum(name in there for name in names[:low])
                names = [name for name in names[: middle + 1] if name in there]
                high = len(names) - 1
            else:
                low = middle + 1
        return shrunk

    def _results(self) -> bool:
        parts, names = self._parts(), self._steps()
        tried = [returning([name]) for name in dict.fromkeys([*names[-1:], *parts[:_FEW]]) if [name] != parts]
        shrunk = self._try("", *tried)
        return shrunk or self._by_halves(
            self._parts, lambda run: [returning([p for p in self._parts() if p not in run])]
        )

    def _beginning(self) -> bool:
        """Find the shortest failing suffix of the list by bisection; new inputs replace the removed nodes."""
        names = self._steps()
        low, high, shrunk = 0, len(names) - 1, False
        while low < high:
            middle = (low + high + 1) // 2
            if self._try("", given(names[:middle])):
                there, shrunk = set(self._steps()), True
                low = sum(name in there for name in names[:middle])
                high = sum(name in there for name in names[: high + 1]) - 1
                names = [name for name in names if name in there]
            else:
                high = middle - 1
        return shrunk

    def _leave_out(self, path: str) -> bool:
        """Remove runs of nodes, from half of the graph down to two; then single nodes, replaced by any input."""
        runs = self._by_halves(
            lambda: _computing(self._graph(path)),
            lambda run: [without(run)] if path else [without(run), given(run)],
            least=2,
            path=path,
        )
        return self._singly(path) or runs

    def _singly(self, path: str) -> bool:
        shrunk = False
        for name in _computing(self._graph(path))[::-1]:
            node = next((node for node in self._graph(path).nodes if node.name == name), None)
            if node is not None:
                edits = [instead(name, other.name) for other in node.all_input_nodes]
                shrunk |= self._try(path, *edits, *([] if path else [given([name])]))
        return shrunk

    def _inputs(self) -> bool:
        def inputs(unread: bool = False) -> list[fx.Node]:
            return [n for n in self.module.graph.nodes if n.op == "placeholder" and not (unread and n.users)]

        shrunk = self._by_halves(lambda: [node.name for node in inputs(unread=True)], lambda run: [without_inputs(run)])
        nodes = inputs()
        alike: dict[Any, list[str]] = {}
        for node in nodes:
            alike.setdefault(told(node), []).append(node.name)
        pairs = [(group[0], name) for group in alike.values() for name in group[1:]]
        if len(nodes) <= _FEW:
            pairs += itertools.combinations([node.name for node in nodes], 2)
        for one, two in dict.fromkeys(pairs):
            shrunk |= self._try("", instead(two, one), instead(one, two))
        return shrunk

    def _by_halves(
        self,
        names_now: Callable[[], list[str]],
        edits: Callable[[list[str]], list[Edit]],
        least: int = 1,
        path: str = "",
    ) -> bool:
        shrunk, names = False, names_now()
        length = max(len(names) // 2, least)
        while length >= least and names:
            at = 0
            while at < len(names):
                if self._try(path, *edits(names[at : at + length])):
                    shrunk, names = True, names_now()
                else:
                    at += length
            length //= 2
        return shrunk

    def _try(self, path: str, *edits: Edit) -> bool:
        return any(self._keeps(path, edit, spared) for edit in edits for spared in self._spared(path))

    def _spared(self, path: str) -> list[frozenset[str]]:
        """Which unused nodes to keep: first none, then those that write in place or have side effects."""
        if path not in self._impure:
            nodes = record(self._graph(path))
            self._impure[path] = frozenset(node.name for node in nodes if {"in place", "side effect"} & {*node.notes})
        return [frozenset(), self._impure[path]] if self._impure[path] else [frozenset()]

    def _keeps(self, path: str, edit: Edit, spared: frozenset[str]) -> bool:
        graph = self._edited(path, edit, spared)
        # The last round would repeat what the round before it tried.
        if graph is None or self.left <= 0 or (path, str(graph)) in self._no:
            return False
        self.left -= 1
        try:
            still = bool(self.fails(self._with(path, graph, copied=True)))
        except Exception:
            still = False
        if still:
            # ``fails`` may have edited its copy.
            self.module = self._with(path, self._edited(path, edit, spared), copied=False)
        else:
            self._no.add((path, str(graph)))
        return still

    def _edited(self, path: str, edit: Edit, spared: Collection[str]) -> fx.Graph | None:
        now = self._graph(path)
        graph = copy.deepcopy(now)
        try:
            edit(graph, {node.name: node for node in graph.nodes})
            sweep(graph, spared)
        except Exception:
            return None
        return graph if size(graph) < size(now) else None

    def _with(self, path: str, graph: fx.Graph, *, copied: bool) -> fx.GraphModule:
        """The module with a new graph at a path, and with only what that graph uses; its weights may be copies."""
        root = copy.deepcopy(self.module) if path else self.module
        inner = root.get_submodule(path)
        targets = [str(node.target) for node in graph.nodes if node.op in ("call_module", "get_attr")]
        held = {target: _fetched(inner, target) for target in dict.fromkeys(targets)}
        made = fx.GraphModule(copy.deepcopy(held) if copied and not path else held, graph, type(inner).__name__)
        made.graph.lint()
        made.training, made.meta = inner.training, dict(inner.meta)
        if not path:
            return made
        parent, _, name = path.rpartition(".")
        setattr(root.get_submodule(parent), name, made)
        return root

    def _graph(self, path: str) -> fx.Graph:
        return self.module.get_submodule(path).graph

    def _steps(self) -> list[str]:
        return [node.name for node in self.module.graph.nodes if node.op not in (*ENDS, "get_attr")]

    def _parts(self) -> list[str]:
        leaves = pytree.tree_leaves(self.module.graph.output_node().args)
        return list(dict.fromkeys(leaf.name for leaf in leaves if isinstance(leaf, fx.Node)))


def _computing(graph: fx.Graph) -> list[str]:
    return [node.name for node in graph.nodes if node.op not in ENDS]


def _fetched(module: Any, path: str) -> Any:
    for part in path.split("."):
        module = getattr(module, part)
    return module
