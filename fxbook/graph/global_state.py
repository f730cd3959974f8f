"""A snapshot of what no answer may change: torch's modes, the inputs, hooks, and the model's modes and weights.

An answer that only reads graphs may not edit them either.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from fxbook.graph.given import Given
from fxbook.graph.naming import call_text
from fxbook.graph.record import insertion_text
from fxbook.graph.settings import Settings
from fxbook.graph.stored import bytes_of

_Tensor, _Graph, _GraphModule = torch.Tensor, fx.Graph, fx.GraphModule


class GlobalStateSnapshot:
    """The state just before an answer is called.

    ``models`` are snapshots of the modules among the ``arguments``; ``author`` is how the sentences name whoever
    changed something. If the author only ``reads`` graphs, the snapshot includes their nodes.
    """

    def __init__(
        self, arguments: tuple[Any, ...], models: Sequence[Given], author: str = "your code", *, reads: bool = False
    ) -> None:
        self._author = author
        self._settings = Settings(author)
        self._models = models
        # The references are weak, because some exercises require that inputs are freed early.
        self._tensors = [
            (weakref.ref(leaf), leaf.detach().clone(), leaf.requires_grad)
            for leaf in pytree.tree_leaves(arguments)
            if isinstance(leaf, _Tensor)
        ]
        self._graphs = [argument for argument in arguments if isinstance(argument, _Graph)]
        self._inserted = set(map(insertion_text, self._all_graphs()))
        self._read = [(graph, _nodes_of(graph)) for graph in self._all_graphs()] if reads else []

    def side_effects(self) -> list[str]:
        """What has changed; each is a sentence without its full stop."""
        return [
            *self._settings.switched(),
            *(
                f"a tensor that {self._author} was given holds different values"
                for tensor, before, _ in self._tensors
                if not _same(tensor(), before)
            ),
            *(
                f"a tensor that {self._author} was given now has requires_grad={not before}"
                for tensor, _, before in self._tensors
                if (given := tensor()) is not None and given.requires_grad != before
            ),
            *(change for model in self._models for change in model.touched()),
            *(
                f"a graph that {self._author} was given still inserts {where}: "
                "the next node lands there, not at the end"
                for where in map(insertion_text, self._all_graphs())
                if where not in self._inserted
            ),
            *(
                f"a graph that {self._author} was given has been edited, at node `{edited}`"
                for graph, before in self._read
                if (edited := _first_edited(before, _nodes_of(graph))) is not None
            ),
        ]

    def put_back(self) -> None:
        """Restore torch's settings, as far as possible."""
        self._settings.put_back()

    def _all_graphs(self) -> Iterator[fx.Graph]:
        yield from self._graphs
        for model in self._models:
            yield from (module.graph for module in model.root.modules() if isinstance(module, _GraphModule))


def _nodes_of(graph: _Graph) -> dict[str, str]:
    return {node.name: f"{node.op} {call_text(node)}" for node in graph.nodes}


def _first_edited(before: dict[str, str], now: dict[str, str]) -> str | None:
    """The name of the first node that is gone, new, different or at another place; ``None`` if there is none."""
    for name in (*before, *now):
        if name not in before or name not in now:
            return name
    return next((was[0] for was, node in zip(before.items(), now.items(), strict=True) if was != node), None)


def _same(tensor: torch.Tensor | None, before: torch.Tensor) -> bool:
    if tensor is None:
        return True
    if tensor.shape != before.shape or tensor.dtype != before.dtype:
        return False
    if tensor.layout != torch.strided or tensor.is_meta or tensor.is_quantized:
        return True
    return torch.equal(bytes_of(tensor), bytes_of(before))
