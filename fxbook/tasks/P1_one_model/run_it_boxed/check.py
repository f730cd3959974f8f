"""Run it boxed: no byte is alive longer than a node needs it."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils import _pytree as pytree

from fxbook.cases import Check
from fxbook.cases.values import Value, dict_items, difference, encode
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import one_thread
from .cases import Bytes, watch_of


class _Needed(fx.Interpreter):
    """Runs a graph and holds, while a node computes, what it or a later node uses."""

    def __init__(self, traced: fx.GraphModule, watch: Bytes) -> None:
        super().__init__(traced)
        self.watch = watch
        self.nodes: list[str] = []
        self.freed: list[tuple[int, str, int]] = []

    def steps_of(self, tensors: list[Any]) -> list[tuple[str, int]]:
        left = list(self.graph.nodes)
        values: dict[fx.Node, Any] = {}
        while left:
            node = left[0]
            if node.op == "placeholder":
                values[node] = tensors.pop(0)
            elif node.op != "output":
                self.env = values
                with self.watch:
                    values[node] = self.run_node(node)
                self.nodes += [node.name] * (len(self.watch.steps) - len(self.nodes))
            del left[0]
            needed = {read for later in left for read in later.all_input_nodes}
            for gone in [one for one in values if one not in needed]:
                alive = self.watch.alive()
                del values[gone]
                if nbytes := alive - self.watch.alive():
                    self.freed.append((len(self.watch.steps), gone.name, nbytes))
        return self.watch.steps

    def kept(self, step: int, nbytes: int) -> str | None:
        """Among the values freed right before an operation, the first of those that together take this many bytes.

        ``None`` if none do, or if several choices of them do.
        """
        freed = [(name, size) for place, name, size in self.freed if place == step]
        choices = (some for count in range(1, len(freed) + 1) for some in itertools.combinations(freed, count))
        found = [some for some in choices if sum(size for _, size in some) == nbytes]
        return found[0][0][0] if len(found) == 1 else None


@one_thread()
def _least(case: CaseView) -> tuple[_Needed, list[tuple[str, int]]]:
    """A run that holds no more than is needed, and its operations with the bytes that are alive after them."""
    traced, tensors = case.arguments
    own = [tensor.clone() for tensor in tensors]
    watch = watch_of(traced)
    watch.see(own)
    run = _Needed(traced, watch)
    with torch.no_grad():
        return run, run.steps_of(own)


def _observed(case: CaseView) -> dict[str, Value]:
    return dict_items(case.value) if isinstance(case.value, dict) and "dict" in case.value else {}


def _steps(seen: dict[str, Value]) -> list[tuple[str, int]]:
    return [(name, alive) for item in seen.get("'steps'", []) for name, alive in [item["tuple"]]]


@rule
def result_is_right(case: CaseView) -> Found:
    """The result is right, and every node ran once, in order."""
    seen = _observed(case)
    _traced, tensors = case.arguments
    with torch.no_grad():
        expected = pytree.tree_map_only(Tensor, torch.clone, case.model(*[tensor.clone() for tensor in tensors]))
    if differs := difference(seen.get("'result'"), encode(expected)):
        yield None, f"The result is not that of the network: {differs}."
    run, least = _least(case)
    ran = [name for name, _ in _steps(seen)]
    for place, (name, _) in enumerate(least):
        if place >= len(ran) or ran[place] != name:
            did = f"`{ran[place]}` ran" if place < len(ran) else "nothing ran"
            at = f"Where node `{run.nodes[place]}` computes `{name}`"
            yield None, f"{at}, {did}: each node must run once, in order."
            return
    if len(ran) > len(least):
        yield None, f"After the last node, `{ran[len(least)]}` ran: each node must run once."


@rule("09_profiling#who-asks-for-gradients")
def without_gradients(case: CaseView) -> Found:
    """Nothing is kept for a gradient."""
    if _observed(case).get("'with gradients'"):
        yield None, "The network ran with gradients on, which keeps values alive for them."


@rule("08_boxed_run#a-box-that-is-emptied")
def list_is_emptied(case: CaseView) -> Found:
    """Afterwards the list is empty."""
    if left := _observed(case).get("'left'"):
        yield None, f"The list still holds {left} item{'' if left == 1 else 's'} after the run: it must be empty."


@rule("08_boxed_run#where-boxed_run-saves-nothing")
def no_more_than_needed(case: CaseView) -> Found:
    """After each operation, no more bytes are alive than this node or a later one needs."""
    run, least = _least(case)
    steps = _steps(_observed(case))
    for step, (node, (_, alive), (_, needed)) in enumerate(zip(run.nodes, steps, least, strict=False)):
        if alive > needed:
            told = f"While node `{node}` computes, {alive:,} bytes are alive: {needed:,} are needed there or later"
            kept = run.kept(step, alive - needed)
            why = f". That of `{kept}` is still alive, but neither this node nor a later one uses it" if kept else ""
            yield case.before.named(node), f"{told}{why}."


@rule("08_boxed_run#what-stays-after-the-run")
def nothing_held(case: CaseView) -> Found:
    """When the result is dropped, no byte is alive."""
    if held := _observed(case).get("'held'"):
        yield None, f"The run is over and its result dropped, but {held:,} bytes are alive: something still holds them."


CHECK = Check((without_gradients, result_is_right, list_is_emptied, no_more_than_needed, nothing_held))
