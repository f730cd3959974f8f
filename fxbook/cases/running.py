"""Run a model on the inputs of a case: seeded, without gradients, on copies of the inputs; and call an answer."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from fxbook.cases.exercise import Inputs, seeded
from fxbook.cases.values import Value, encode

# Far from the input seeds, so that a model's noise never equals its inputs.
_RUN = 1_000_003
# For all values together: once this many elements are encoded, later values are left out.
_MOST_ELEMENTS = 300_000
_Interpreter, _Tensor = fx.Interpreter, torch.Tensor


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run the body on one thread: on a busy machine, small models wait longer for threads than they compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def run_on(call: Callable[..., Any], inputs: list[Inputs], seed: int) -> list[Any]:
    """The result of ``call`` for each tuple of inputs. Dropout and other noise repeat with the same seed."""
    return [run_draw(call, arguments, seed, draw) for draw, arguments in enumerate(inputs)]


def run_draw(call: Callable[..., Any], arguments: Inputs, seed: int, draw: int) -> Any:
    copies = pytree.tree_map_only(torch.Tensor, torch.clone, arguments)
    with seeded(seed + _RUN + draw), torch.no_grad():
        return call(*copies)


def reporting(result: Any, report: Callable[..., Any]) -> Any:
    """What an answer returned; if it is a GraphModule, a run of it now returns ``report(forward, *inputs)``.

    Args:
        result: what the answer returned; a ``PassResult`` is unpacked.
        report: called with the module's own ``forward`` and with the inputs of the run.
    """
    result = result.graph_module if type(result).__name__ == "PassResult" else result
    if isinstance(result, fx.GraphModule):
        forward = result.forward

        # Wrapped, so that the source of forward can still be found.
        @functools.wraps(forward)
        def forward_and_report(*inputs: Any) -> Any:
            return report(forward, *inputs)

        result.forward = forward_and_report
    return result


def values_inside(module: fx.GraphModule, arguments: Inputs, seed: int, draw: int) -> list[Value]:
    """The value of each node, encoded, in list order; ``None`` for one that did not run or whose value is too large."""
    keeping = _Keeping(module)
    keeping.extra_traceback = False
    run_draw(keeping.run, arguments, seed, draw)
    return [keeping.values.get(node) for node in module.graph.nodes]


def with_changes(answer: Callable[..., Any], graph: fx.Graph) -> dict[str, Any]:
    """What the answer returns for a graph, and the names of the nodes that it has erased, rewired, moved or made."""
    before = listing(graph)
    returned = answer(graph)
    after = listing(graph)
    changed = [name for name, row in before.items() if after.get(name) != row]
    changed += [name for name in after if name not in before]
    if not changed and list(before) != list(after):
        changed = [next(new for new, old in zip(after, before, strict=True) if new != old)]
    return {"returned": returned, "changed": changed}


def listing(graph: fx.Graph) -> dict[str, str]:
    """A description of each node by its name, in graph order."""
    return {node.name: f"{node.op} {node.target} {node.args} {node.kwargs} {node.type}" for node in graph.nodes}


def trimmings(graph: fx.Graph) -> dict[str, dict[str, str]]:
    """For each node name, as text, what an answer that recreates nodes may lose: default, annotation, notes."""
    return {
        node.name: {
            **({"default": str(node.args)} if node.op == "placeholder" and node.args else {}),
            **({"annotation": str(node.type)} if node.type is not None else {}),
            **{f"note `{key}` in `meta`": repr(value)[:200] for key, value in node.meta.items()},
        }
        for node in graph.nodes
    }


def differing_trimming(before: dict[str, dict[str, str]], graph: fx.Graph) -> list[str] | None:
    """The first node whose :func:`trimmings` differ from ``before``: its name, and how, as in ``"has lost its …"``."""
    for name, now in trimmings(graph).items():
        was = before.get(name, now)
        for what in {**was, **now}:
            if what not in now:
                return [name, f"has lost its {what}"]
            if was.get(what) != now[what]:
                return [name, f"has a {'different' if what in was else 'new'} {what}"]
    return None


class _Keeping(_Interpreter):
    """Encodes the value of each node at once, before a later node can write into it."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.values: dict[fx.Node, Value] = {}
        self._elements = 0

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        self._elements += sum(leaf.numel() for leaf in pytree.tree_leaves(value) if isinstance(leaf, _Tensor))
        if self._elements <= _MOST_ELEMENTS:
            self.values[n] = encode(value)
        return value
