"""Run a network boxed: no byte is alive longer than a node needs it."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils import _pytree as pytree

from fxbook.cases import Check
from fxbook.cases.running import one_thread
from fxbook.cases.values import Value, difference, encode
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import Bytes, watch_of


class _Needed(fx.Interpreter):
    """An Interpreter that holds, while a node computes, only the values that this node or a later one uses."""

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
        """The first of the values that were freed right before a step and together take exactly this many bytes.

        ``None`` if no selection of the freed values takes that many bytes, or if several selections do.
        """
        freed = [(name, size) for place, name, size in self.freed if place == step]
        choices = (some for count in range(1, len(freed) + 1) for some in itertools.combinations(freed, count))
        found = [some for some in choices if sum(size for _, size in some) == nbytes]
        return found[0][0][0] if len(found) == 1 else None


@one_thread()
def _least(case: CaseView) -> tuple[_Needed, list[tuple[str, int]]]:
    """A run that holds only what is needed, and its torch operations, each with the bytes alive after it."""
    traced, tensors = case.arguments
    own = [tensor.clone() for tensor in tensors]
    watch = watch_of(traced)
    watch.see(own)
    run = _Needed(traced, watch)
    with torch.no_grad():
        return run, run.steps_of(own)


def _steps(seen: dict[str, Value]) -> list[tuple[str, int]]:
    return [(name, alive) for item in seen.get("steps", []) for name, alive in [item["tuple"]]]


@rule
def result_is_right(case: CaseView) -> Found:
    """The result is correct, and every node ran once, in order."""
    seen = table_of(case.value) or {}
    _traced, tensors = case.arguments
    with torch.no_grad():
        expected = pytree.tree_map_only(Tensor, torch.clone, case.model(*[tensor.clone() for tensor in tensors]))
    if differs := difference(seen.get("result"), encode(expected)):
        yield None, f"The result is not that of the network: {differs}."
    run, least = _least(case)
    ran = [name for name, _ in _steps(seen)]
    for place, (name, _) in enumerate(least):
        if place >= len(ran) or ran[place] != name:
            did = f"`{ran[place]}` ran" if place < len(ran) else "nothing ran"
            at = f"Where node `{run.nodes[place]}` should compute `{name}`"
            yield None, f"{at}, {did}: each node must run once, in order."
            return
    if len(ran) > len(least):
        yield None, f"After the last node, `{ran[len(least)]}` ran: each node must run once."


@rule("09_profiling#who-asks-for-gradients")
def without_gradients(case: CaseView) -> Found:
    """The run keeps nothing for gradients."""
    if (table_of(case.value) or {}).get("with gradients"):
        yield None, "The network ran with gradients on, which keeps values alive for the backward pass."


@rule("08_boxed_run#a-box-that-is-emptied")
def list_is_emptied(case: CaseView) -> Found:
    """After the run, the list of inputs is empty."""
    if left := (table_of(case.value) or {}).get("left"):
        yield None, f"The list still holds {left} item{'' if left == 1 else 's'} after the run: it must be empty."


@rule
def no_more_than_needed(case: CaseView) -> Found:
    """After each operation, no more bytes are alive than this node or a later one needs."""
    run, least = _least(case)
    steps = _steps(table_of(case.value) or {})
    for step, (node, (_, alive), (_, needed)) in enumerate(zip(run.nodes, steps, least, strict=False)):
        if alive > needed:
            bytes_alive = (
                f"While node `{node}` computes, {alive:,} bytes are alive, but only {needed:,} are still needed"
            )
            kept = run.kept(step, alive - needed)
            why = f": `{kept}` is alive, although neither this node nor a later one uses it" if kept else ""
            yield case.before.named(node), f"{bytes_alive}{why}."


@rule("08_boxed_run#what-stays-after-the-run")
def nothing_held(case: CaseView) -> Found:
    """When the caller has dropped the result, no byte is alive."""
    if held := (table_of(case.value) or {}).get("held"):
        yield None, f"After the result was dropped, {held:,} bytes are alive: something still holds them."


CHECK = Check((without_gradients, result_is_right, list_is_emptied, no_more_than_needed, nothing_held, input_unchanged))
