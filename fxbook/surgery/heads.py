"""Find attention heads in a graph by running it, however the attention is spelled.

The gradient of a head with respect to the outputs of the projections shows which channels belong to the head. These
channels are then filled with NaN: every value that contains the head is NaN along one dimension.
"""

from __future__ import annotations

import copy
import dataclasses
import operator
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.passes.outcome import kept
from fxbook.surgery.attention import DroppingAttention, called, given
from fxbook.surgery.linears import Linear, linears, operand

_SIZED = ("view", "reshape", "expand", "unflatten")
_SDPA = (torch.nn.functional.scaled_dot_product_attention, torch.ops.aten.scaled_dot_product_attention.default)


class HeadsNotFoundError(ValueError):
    """Heads cannot be cut out of attention; the message says why."""


@dataclasses.dataclass(frozen=True)
class HeadMap:
    """Where the heads are in a graph.

    Attributes:
        rows: for each projection, a boolean vector of the channels that it computes for the heads.
        columns: for each layer after the attention, a boolean vector of the channels that it reads from the heads.
        axes: for each node between the projections and these layers, the dimension of the heads, as a negative index,
            and a boolean vector of their positions along it.
        layers: the layer that each call belongs to.
    """

    rows: dict[fx.Node, Tensor]
    columns: dict[fx.Node, Tensor]
    axes: dict[fx.Node, tuple[int, Tensor]]
    layers: dict[fx.Node, Linear]


def attentions(module: fx.GraphModule) -> list[fx.Node]:
    """The calls to ``scaled_dot_product_attention`` and `DroppingAttention`, in order."""

    def attends(node: fx.Node) -> bool:
        if node.op == "call_module":
            return isinstance(module.get_submodule(node.target), DroppingAttention)
        return node.op == "call_function" and node.target in _SDPA

    return [node for node in module.graph.nodes if attends(node)]


def attention_at(module: fx.GraphModule, place: int) -> fx.Node:
    """A call to ``scaled_dot_product_attention``, by number. Raises HeadsNotFoundError if the graph has fewer."""
    found = attentions(module)
    _need(0 <= place < len(found), f"the graph has {len(found)} calls to scaled_dot_product_attention")
    return found[place]


def head_map(module: fx.GraphModule, attention: fx.Node, heads: Collection[int], inputs: Sequence[Any]) -> HeadMap:
    """Where these heads of an attention are, found in two runs of the graph.

    Each run uses a copy of the inputs, and restores what the module holds.

    Raises:
        HeadsNotFoundError: the heads share channels with others, or cannot be followed.
    """
    layers = {call: layer for layer in linears(module).found for call in layer.calls}
    parts = [given(attention, place, name) for place, name in enumerate(("query", "key", "value"))]
    above, projections = _between(parts, layers, lambda node: node.all_input_nodes)
    below, outputs = _between(attention.users, layers, lambda node: node.users)
    for call in (*projections, *outputs):
        _need(len(layers[call].calls) == 1, f"{layers[call].layer} is called twice")
    _need(bool(projections) and bool(outputs), "it does not lie between linear layers")
    rows = _rows(module, attention, projections, heads, inputs)
    with torch.no_grad():
        painted = _Painted(module, rows, attention, heads)
        _run(painted, inputs)
    region = dict.fromkeys([*above, attention, *below])
    axes = {}
    for node in region:
        value = painted.values.get(node)
        if isinstance(value, Tensor) and value.is_floating_point() and value.isnan().any():
            axes[node] = _axis(node, value.isnan())
    columns = {}
    for call in outputs:
        source = operand(call, "input")
        value = painted.values[source]
        axis, places = axes.get(source) or _axis(source, value.isnan())
        _need(axis == -1, f"{source} does not hold the heads in its last dimension")
        columns[call] = places
    return HeadMap(rows, columns, axes, {call: layers[call] for call in (*projections, *outputs)})


def shrink(node: fx.Node, axis: int, places: Tensor) -> None:
    """Reduce the size of a dimension in a call that has the old size as an argument.

    Such calls are ``view``, ``reshape``, ``expand``, ``unflatten`` and the ``split`` before a ``getitem``.

    Args:
        node: the node whose value has the dimension.
        axis: the dimension, counted from the last.
        places: a boolean vector of the positions to remove.
    """
    module, old, new = node.graph.owning_module, len(places), int(places.logical_not().sum())
    if node.target is operator.getitem and node.args[0].args[1:2] == (old,):
        node.args[0].update_arg(1, new)
    if called(module, node) in _SIZED:
        *before, last = node.args
        listed = isinstance(last, list | tuple)
        sizes = list(last if listed else node.args)
        if len(sizes) >= -axis and sizes[axis] == old:
            sizes[axis] = new
            node.args = (*before, sizes) if listed else tuple(sizes)


def drop_channels(module: fx.GraphModule, name: str, dim: int, places: Tensor) -> None:
    """Replace a parameter, under each of its names, with a copy that lacks some of its rows or columns.

    The old parameter is not changed, since another model may share it.
    """
    old = module.get_parameter(name)
    kept = old.detach().index_select(dim, places.logical_not().nonzero().flatten())
    new = nn.Parameter(kept, old.requires_grad)
    for path, value in [*module.named_parameters(remove_duplicate=False)]:
        if value is old:
            owner, _, last = path.rpartition(".")
            setattr(module.get_submodule(owner), last, new)


def without_heads(module: fx.GraphModule, attention: fx.Node, heads: Collection[int], inputs: Sequence[Any]) -> Any:
    """The result of a graph in which these heads return zeros.

    The graph runs on a copy of the inputs; the module's state is restored afterwards.
    """
    with torch.no_grad():
        return _run(_Silenced(module, attention, heads), inputs)


def _run(interpreter: fx.Interpreter, inputs: Sequence[Any]) -> Any:
    with kept(interpreter.module):
        return interpreter.run(*copy.deepcopy(tuple(inputs)))


def _need(holds: bool, reason: str) -> None:
    if not holds:
        raise HeadsNotFoundError(reason)


def _between(start: Iterable[Any], layers: Collection[fx.Node], follow: Any) -> tuple[list[fx.Node], list[fx.Node]]:
    waiting = [node for node in start if isinstance(node, fx.Node)]
    met: dict[fx.Node, None] = {}
    ends: dict[fx.Node, None] = {}
    while waiting:
        node = waiting.pop()
        if node in layers:
            ends[node] = None
        elif node not in met:
            met[node] = None
            waiting.extend(follow(node))
    return list(met), list(ends)


def _head_axis(value: Tensor) -> int:
    _need(value.ndim >= 3, "its result has no dimension for heads")
    return value.ndim - 3


def _rows(
    module: fx.GraphModule,
    attention: fx.Node,
    projections: Sequence[fx.Node],
    heads: Collection[int],
    inputs: Sequence[Any],
) -> dict[fx.Node, Tensor]:
    """The channels of each projection that only these heads use."""
    with torch.enable_grad():
        cut = _Cut(module, projections)
        _run(cut, inputs)
        result = cut.values[attention]
        axis = _head_axis(result)
        known = range(result.shape[axis])
        _need(set(heads) < set(known), f"it has heads {known.start} to {known.stop - 1}, and one must stay")
        used = []
        for chosen in (sorted(heads), sorted(set(known) - set(heads))):
            part = result.index_select(axis, torch.tensor(chosen, device=result.device))
            leaves = [cut.values[node] for node in projections]
            gradients = torch.autograd.grad(part.sum(), leaves, retain_graph=True, allow_unused=True)
            used.append([_channels(leaf, gradient) for leaf, gradient in zip(leaves, gradients, strict=True)])
    for node, own, others in zip(projections, *used, strict=True):
        _need(not bool((own & others).any()), f"other heads use channels of {node} too: prune them together")
    return dict(zip(projections, used[0], strict=True))


def _channels(leaf: Tensor, gradient: Tensor | None) -> Tensor:
    if gradient is None:
        return torch.zeros(leaf.shape[-1], dtype=torch.bool, device=leaf.device)
    return gradient.flatten(0, -2).ne(0).any(0)


def _axis(node: fx.Node, marked: Tensor) -> tuple[int, Tensor]:
    """The only dimension along which the marks differ, and the marked positions."""
    found = []
    for axis, size in enumerate(marked.shape):
        lines = marked.movedim(axis, -1).reshape(-1, size)
        if bool((lines == lines[0]).all()) and bool(lines[0].any()) and not bool(lines[0].all()):
            found.append((axis - marked.ndim, lines[0]))
    _need(len(found) == 1, f"{node} does not hold the heads along one dimension")
    return found[0]


class _Keeping(fx.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.values: dict[fx.Node, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        self.values[n] = self.changed(n, super().run_node(n))
        return self.values[n]

    def changed(self, node: fx.Node, value: Any) -> Any:
        return value


class _Cut(_Keeping):
    """Makes the projections' results autograd leaves."""

    def __init__(self, module: fx.GraphModule, projections: Collection[fx.Node]) -> None:
        super().__init__(module)
        self._projections = projections

    def changed(self, node: fx.Node, value: Any) -> Any:
        return value.detach().requires_grad_() if node in self._projections else value


class _Painted(_Keeping):
    """Fills the projections' channels with NaN, and also the heads, since a fused kernel may return zeros for NaN."""

    def __init__(
        self, module: fx.GraphModule, rows: dict[fx.Node, Tensor], attention: fx.Node, heads: Collection[int]
    ) -> None:
        super().__init__(module)
        self._rows, self._attention, self._heads = rows, attention, sorted(heads)

    def changed(self, node: fx.Node, value: Any) -> Any:
        if node is self._attention:
            places = torch.tensor(self._heads, device=value.device)
            return value.nan_to_num().index_fill(_head_axis(value), places, float("nan"))
        return value.masked_fill(self._rows[node], float("nan")) if node in self._rows else value


class _Silenced(fx.Interpreter):
    """Replaces some heads with zeros."""

    def __init__(self, module: fx.GraphModule, attention: fx.Node, heads: Collection[int]) -> None:
        super().__init__(module)
        self._attention, self._heads = attention, sorted(heads)

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        if n is not self._attention:
            return value
        places = torch.tensor(self._heads, device=value.device)
        return value.index_fill(_head_axis(value), places, 0.0)
