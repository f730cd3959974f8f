"""Find attention that a model spells out as separate operations, around each softmax of its graph.

``written_attention`` finds ``softmax(query @ key.T * scale + mask)``, a dropout, and the product with the values. It
changes nothing. The pass that calls it decides what to replace, and does so with the functions below it.
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.surgery.effects import Effect, effect, has_hooks, may_share

_ATEN = torch.ops.aten
# torch.export inserts this check next to a cast; the check does not use the tensor's values.
_ASSERTION = _ATEN._assert_tensor_metadata.default
_PRODUCTS = ("matmul", "bmm")
_CASTS = ("to", "type", "type_as", "float", "half", "bfloat16", "double", "_to_copy")
_TURNS = ("transpose", "swapaxes", "swapdims")
_NO_EXAMPLE = "it has no example: run FakeTensorProp first"
_IN_THE_WAY = (Effect.WRITES, Effect.RANDOM, Effect.MODE, Effect.UNKNOWN)
_HOMES = ("torch", "_operator", "math")
# The meta keys of examples: the one that FakeTensorProp and torch.export use, and the one that torch.compile uses.
_EXAMPLES = ("val", "example_value")
_SOFTMAXES = ("softmax", "_softmax", "special_softmax")
# The keyword arguments of a plain softmax; the softmax in torch.masked also has a mask.
_SETTINGS_OF_SOFTMAX = {"input", "self", "dim", "dtype", "_stacklevel", "half_to_float", "out"}
_LAYERS = {nn.Softmax: "softmax", nn.Dropout: "dropout"}


class _NotAttentionError(ValueError):
    """Why the nodes around a softmax are not attention."""


class DroppingAttention(nn.Module):
    """``scaled_dot_product_attention`` that drops weights while ``drop``, a dropout layer, is training."""

    def __init__(self, drop: nn.Dropout) -> None:
        super().__init__()
        self.drop = drop

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, scale: float | None = None
    ) -> Tensor:
        p = self.drop.p if self.drop.training else 0.0
        return nn.functional.scaled_dot_product_attention(query, key, value, attn_mask, p, scale=scale)


@dataclasses.dataclass(frozen=True)
class Mask:
    """How the scores were masked.

    Attributes:
        kind: ``"add"``: the mask was added. ``"hide"``: the fill replaced the scores where the mask is true.
            ``"keep"``: the fill replaced them where it is false.
        node: the mask.
        fill: the number that replaces a hidden score.
    """

    kind: str
    node: fx.Node
    fill: Any = None


@dataclasses.dataclass(frozen=True)
class Written:
    """Attention that is spelled out.

    Attributes:
        mask: how the scores were masked, after they were scaled.
        factor: the number, or the node of a number, that scales the scores.
        divides: whether the scores are divided by the factor.
        dropout: the node that drops weights.
        inside: the nodes from the first product to the last node before the output, in order. Nothing else uses them.
        output: the product with the values.
    """

    mask: Mask | None
    factor: Any
    divides: bool
    softmax: fx.Node
    dim: Any
    dropout: fx.Node | None
    inside: tuple[fx.Node, ...]
    output: fx.Node

    @property
    def query(self) -> fx.Node:
        return _first(self.inside[0])

    @property
    def turned_key(self) -> fx.Node:
        """The key with its last two dimensions swapped."""
        return _second(self.inside[0])

    @property
    def value(self) -> fx.Node:
        return _second(self.output)


def written_attention(module: fx.GraphModule) -> tuple[list[Written], dict[fx.Node, str]]:
    """The attention in a graph, and for each other softmax, the reason why it is not attention."""
    found: list[Written] = []
    left: dict[fx.Node, str] = {}
    for node in module.graph.nodes:
        if called(module, node) in _SOFTMAXES:
            try:
                found.append(_read(module, node))
            except _NotAttentionError as reason:
                left[node] = str(reason)
    return found, left


def called(module: fx.GraphModule, node: fx.Node) -> str:
    """The name of the torch operation that a node calls, in any spelling, or ``""``."""
    target = node.target
    if node.op == "call_module":
        return _LAYERS.get(type(module.get_submodule(target)), "")
    if isinstance(target, torch._ops.OpOverload):
        space, _, name = target._schema.name.partition("::")
        return name if space == "aten" else ""
    if node.op == "call_method":
        return str(target)
    if node.op != "call_function":
        return ""
    home = (getattr(target, "__module__", None) or "torch").split(".")[0]
    return getattr(target, "__name__", "") if home in _HOMES else ""


def given(node: fx.Node, place: int, *names: str, default: Any = None) -> Any:
    if place < len(node.args):
        return node.args[place]
    return next((node.kwargs[name] for name in names if name in node.kwargs), default)


def example(node: fx.Node) -> Any:
    """The example of a node's value from `FakeTensorProp`, `torch.export` or `torch.compile`, or None."""
    return next((node.meta[key] for key in _EXAMPLES if key in node.meta), None)


def readers(node: fx.Node) -> list[fx.Node]:
    """The users of a node that use its value."""
    return [user for user in node.users if user.target is not _ASSERTION]


def passed_by(module: fx.GraphModule, old: Written) -> fx.Node | None:
    """A node between the two products that nothing may move past: it writes, draws random numbers or sets a mode."""
    between = (node for node in module.graph.nodes if old.inside[0] < node < old.output and node not in old.inside)
    return next((node for node in between if effect(node) in _IN_THE_WAY), None)


def key_of(module: fx.GraphModule, old: Written) -> fx.Node:
    """The key before its transpose; if the graph has no such node, one is inserted before the output."""
    node = old.turned_key
    source, dims = given(node, 0, "input", "self"), {given(node, 1, "dim0"), given(node, 2, "dim1")}
    rank = example(node).ndim
    if called(module, node) in _TURNS and dims in ({-1, -2}, {rank - 1, rank - 2}):
        return source
    return _call(old, "transpose", _ATEN.transpose.int, node, -2, -1)


def mask_of(module: fx.GraphModule, old: Written) -> fx.Node | None:
    """The mask in the form of ``scaled_dot_product_attention``; nodes that convert it are inserted before the output.

    A mask that is added to the scores is kept. A fill of minus infinity becomes a boolean mask, in which true means
    keep. Any other fill becomes a mask to add: the fill where a score was hidden, zero elsewhere.
    """
    if old.mask is None or old.mask.kind == "add":
        return old.mask and old.mask.node
    node, finite = old.mask.node, old.mask.fill > -math.inf
    if finite == (old.mask.kind == "keep"):
        node = _call(old, "logical_not", _ATEN.logical_not.default, node)
    if not finite:
        return node
    hidden = _call(old, "to", _ATEN.to.dtype, node, example(old.query).dtype)
    return _call(old, "mul", _ATEN.mul.Tensor, hidden, old.mask.fill)


def scale_of(old: Written) -> Any:
    """The number, or the node of a number, that the scores are multiplied by."""
    if not old.divides:
        return old.factor
    if not isinstance(old.factor, fx.Node):
        return 1.0 / old.factor
    graph = old.output.graph
    with graph.inserting_before(old.output):
        scale = graph.call_function(operator.truediv, (1.0, old.factor))
    scale.meta = _meta_like(old.factor, lambda factor: 1.0 / factor)
    return scale


def put_in_place(module: fx.GraphModule, old: Written, new: fx.Node) -> None:
    """Replace the attention with ``new``, a node before its output, and erase the old nodes.

    The new value is made contiguous, like a matrix product, unless every user accepts any strides.
    """
    graph, key, new.meta = module.graph, old.turned_key, dict(old.output.meta)
    if not _takes_any_strides(module, old.output):
        new = _call(old, "contiguous", _ATEN.contiguous.default, new)
        new.meta = dict(old.output.meta)
    old.output.replace_all_uses_with(new)
    for node in (old.output, *reversed(old.inside)):
        for assertion in list(node.users):
            graph.erase_node(assertion)
        graph.erase_node(node)
    if called(module, key) in _TURNS and not key.users:
        graph.erase_node(key)


def is_recorded(old: Written) -> bool:
    """Whether the graph calls ATen operators, like one from ``torch.export``."""
    return isinstance(old.output.target, torch._ops.OpOverload)


def _call(old: Written, method: str, operation: Any, node: fx.Node, *args: Any) -> fx.Node:
    """A call on a node before the output, in the graph's dialect."""
    graph = old.output.graph
    with graph.inserting_before(old.output):
        recorded = is_recorded(old)
        new = graph.call_function(operation, (node, *args)) if recorded else graph.call_method(method, (node, *args))
    new.meta = _meta_like(node, lambda value: operation(value, *args))
    return new


def _meta_like(node: fx.Node, computed: Callable[[Any], Any]) -> dict[str, Any]:
    """The meta of a node to be computed from this one: examples are computed, and ``tensor_meta`` is left out."""
    kept = {key: value for key, value in node.meta.items() if key != "tensor_meta"}
    return {**kept, **{key: computed(kept[key]) for key in _EXAMPLES if key in kept}}


def _takes_any_strides(module: fx.GraphModule, node: fx.Node) -> bool:
    """Whether the users of a node work with any strides, before or after a transpose."""
    return all(
        called(module, user) in ("reshape", "flatten", "contiguous")
        or (called(module, user) in (*_TURNS, "permute") and _takes_any_strides(module, user))
        for user in node.users
    )


def _need(holds: bool, reason: str) -> None:
    if not holds:
        raise _NotAttentionError(reason)


def _read(module: fx.GraphModule, softmax: fx.Node) -> Written:
    _need(isinstance(example(softmax), Tensor), _NO_EXAMPLE)
    below: list[fx.Node] = []
    output, dropout = _down(module, softmax, below)
    above: list[fx.Node] = []
    mask, (factor, divides) = _up(module, _first(softmax), above, None, None)
    layer = module.get_submodule(softmax.target) if softmax.op == "call_module" else None
    dim = layer.dim if layer else given(softmax, 1, "dim")
    old = Written(mask, factor, divides, softmax, dim, dropout, (*above[::-1], *below), output)
    needed = [old.query, old.turned_key, old.value, *old.inside, output, *([mask.node] if mask else [])]
    _need(all(isinstance(part, fx.Node) for part in needed), "a tensor in it is not a node")
    _need(all(isinstance(example(part), Tensor) for part in needed), _NO_EXAMPLE)
    hooked = next((part for part in old.inside if has_hooks(part)), None)
    _need(hooked is None, f"{hooked} has hooks")
    out = next((part for part in (*old.inside, output) if part.kwargs.get("out") is not None), None)
    _need(out is None, f"{out} writes into its out")
    _need(softmax.kwargs.keys() <= _SETTINGS_OF_SOFTMAX, f"{softmax} has a setting")
    told = dropout is not None and isinstance(given(dropout, 2, "training", "train"), fx.Node)
    _need(not told, f"a node decides whether {dropout} drops")
    # One call saves its inputs and its result for the backward pass, which fails if they were written to since.
    writer = next(_writers(module, output), None)
    _need(writer is None, f"{writer} writes into the result")
    saved = {"the query": old.query, "the key": old.turned_key, "the value": old.value}
    if mask and mask.kind == "add":
        saved["the mask"] = mask.node
    for name, part in saved.items():
        writer = next((late for late in _writers(module, part) if late > output), None)
        _need(writer is None, f"{writer} writes into {name}")
    return old


def _writers(module: fx.GraphModule, node: fx.Node) -> Iterator[fx.Node]:
    met, waiting = {node}, [node]
    while waiting:
        one = waiting.pop()
        touching = [user for user in one.users if _may_touch(module, user, one)]
        yield from (user for user in touching if effect(user) is Effect.WRITES)
        bases = [read for read in one.all_input_nodes if one.op.startswith("call") and _may_touch(module, one, read)]
        new = dict.fromkeys(other for other in (*touching, *bases) if other not in met)
        waiting += new
        met.update(new)


def _may_touch(module: fx.GraphModule, call: fx.Node, node: fx.Node) -> bool:
    """Whether a call may write to or return an argument's memory; an in-place call writes only to the first."""
    written = effect(call) is Effect.WRITES
    in_place = called(module, call).endswith("_") or getattr(call.target, "__module__", "") == "_operator"
    first = _first(call)  # a list in the `_foreach_` functions
    given_first = node in first if isinstance(first, list | tuple) else first is node
    return given_first if written and in_place else written or may_share(call)


def _first(node: fx.Node) -> Any:
    return given(node, 0, "input", "self")


def _second(node: fx.Node) -> Any:
    return given(node, 1, "other", "mat2")


def _down(module: fx.GraphModule, node: fx.Node, inside: list[fx.Node]) -> tuple[fx.Node, fx.Node | None]:
    """Follow the graph from the softmax to the product with the values; return this product and the dropout, if any."""
    dropout = None
    while True:
        inside.append(node)
        users = readers(node)
        _need(len(users) == 1, f"{node} has {len(users)} users")
        [user] = users
        name = called(module, user)
        _need(_first(user) is node and name in (*_PRODUCTS, *_CASTS, "dropout"), f"{user} reads the weights")
        if name in _PRODUCTS:
            _need(_second(user) is not node, f"{user} multiplies the weights by themselves")
            return user, dropout
        if name == "dropout":
            _need(dropout is None, "there are two dropouts")
            dropout = user
        node = user


def _up(
    module: fx.GraphModule, node: Any, inside: list[fx.Node], mask: Mask | None, scale: tuple[Any, bool] | None
) -> tuple[Mask | None, tuple[Any, bool]]:
    """Follow the graph back from the softmax's input to the product of query and key; return the mask and the scale."""
    _need(isinstance(node, fx.Node), "the scores are not a node")
    _need(len(readers(node)) == 1, f"{node} has {len(readers(node))} users")
    inside.append(node)
    step, first, second = called(module, node).rstrip("_"), _first(node), _second(node)
    if step in _PRODUCTS:
        return mask, scale or (1.0, False)
    if step in _CASTS:
        return _up(module, first, inside, mask, scale)
    _need(not set(node.kwargs) - {"input", "self", "other", "mask", "value"}, f"{node} has a setting")
    if step in ("mul", "imul", "div", "truediv", "itruediv"):
        _need(scale is None, f"{node} scales a second time")
        if "mul" in step and not _is_tensor(first):
            first, second = second, first
        _need(_is_tensor(first) and not _is_tensor(second), f"{node} scales by a tensor")
        return _up(module, first, inside, mask, (second, "mul" not in step))
    _need(step in ("add", "iadd", "masked_fill", "where"), f"the scores come from {node}")
    _need(scale is None, f"in {node}, the mask comes before the scaling")
    _need(mask is None, f"{node} masks a second time")
    if step in ("add", "iadd"):
        return _masked(module, node, (first, second), inside)
    if step == "masked_fill":
        return _up(module, first, inside, Mask("hide", given(node, 1, "mask"), given(node, 2, "value")), None)
    kept, other = given(node, 1, "input", "self"), given(node, 2, "other")
    if node.op == "call_method":  # scores.where(mask, other)
        first, kept = kept, first
    if isinstance(kept, fx.Node):
        return _up(module, kept, inside, Mask("keep", first, other), None)
    return _up(module, other, inside, Mask("hide", first, kept), None)


def _masked(
    module: fx.GraphModule, node: fx.Node, operands: tuple[Any, Any], inside: list[fx.Node]
) -> tuple[Mask | None, tuple[Any, bool]]:
    """Like :func:`_up`, from a sum: the scores may be either operand, but only the first of an in-place sum."""
    first, second = operands
    mark = len(inside)
    try:
        _need(isinstance(second, fx.Node), f"{node} adds a number")
        return _up(module, first, inside, Mask("add", second), None)
    except _NotAttentionError as reason:
        del inside[mark:]
        in_place = called(module, node) in ("add_", "iadd")
        if in_place or not (isinstance(first, fx.Node) and isinstance(second, fx.Node)):
            raise
        try:
            return _up(module, second, inside, Mask("add", first), None)
        except _NotAttentionError:
            raise reason from None


def _is_tensor(value: Any) -> bool:
    """Whether an operand is a tensor, according to its example; a node without one counts as a tensor."""
    return isinstance(value, fx.Node) and not isinstance(example(value), bool | int | float)
