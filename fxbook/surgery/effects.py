"""What a call in a graph does besides returning a value, and which memory the calls in a graph may write to.

A pass may evaluate a call ahead of time, or merge two equal calls into one, only if the result depends on nothing but
the arguments. The rules cover ``torch.nn`` layers, ATen operators, and torch functions and methods, in graphs from any
front end. They report other calls as unknown.
"""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.fx.graph import inplace_methods

from fxbook.graph.given import HOOKS

aten, functional = torch.ops.aten, nn.functional


class Effect(enum.StrEnum):
    """What a call does besides returning a value."""

    WRITES = "it may write into an argument"
    RANDOM = "it draws random numbers"
    MODE = "it may change a mode, such as autocast"
    CHECK = "it checks something"
    UNKNOWN = "its effects are not known"


_MAY_WRITE = (Effect.WRITES, Effect.UNKNOWN, Effect.MODE)
_READS = ("placeholder", "get_attr", "output")
# Higher-order operators that run graphs in their module, restore the mode that they set, and do nothing else.
_RUNNING = ("cond", "wrap_with_autocast", "wrap_with_set_grad_enabled")
_WORST_FIRST = (Effect.WRITES, Effect.UNKNOWN, Effect.MODE, Effect.RANDOM, Effect.CHECK)
# Python functions that compute a value and do nothing else.
_PYTHON = {getattr, len, int, float, bool, complex, abs, max, min, sum, round, tuple, list, slice, range, isinstance}
# Methods that return the tensor itself, or a copy with another dtype or device. ATen has no operator of that name.
_CONVERTING = {
    *("bfloat16", "bool", "byte", "char", "double", "float", "half", "int", "long", "short", "type"),
    *("cpu", "cuda"),
}
# Python operators that have a different name in ATen.
_OF_ATEN = {
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "invert": "bitwise_not",
    "pos": "positive",
}
# Functions in operator that write, though torch.fx does not print them as statements; and one that calls anything.
_WRITING, _CALLING = (operator.delitem, operator.iconcat), (operator.call,)
# These functions raise an error or do nothing.
_CHECKING = (torch._assert, torch._check)
# The prefix of functions that draw random samples; the operator of the same name takes the samples as an argument.
_DRAWING = "fractional_max_pool"
# Calls that add to the gradients of tensors that are not among their arguments.
_BACKWARD = ("backward", "_backward")
# Layers that draw random numbers or collect statistics in training mode.
_TRAINED = (
    *(nn.modules.dropout._DropoutNd, nn.modules.batchnorm._NormBase, nn.RReLU),
    *(nn.RNNBase, nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer),
)
_RANDOM_LAYERS = (nn.FractionalMaxPool2d, nn.FractionalMaxPool3d)
# ATen operators that update running statistics, though their schema does not say so.
_MOVING = ("batch_norm_update_stats", "batch_norm_gather_stats", "batch_norm_gather_stats_with_counts")
# Layers that always return new memory.
_FRESH_LAYERS = (nn.Linear, nn.modules.conv._ConvNd, nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.Embedding)
# A composite operator's schema says nothing about memory: ``einsum`` may return a view. These return none.
_FRESH_COMPOSITES = {
    *("linear", "matmul", "conv1d", "conv2d", "conv3d", "scaled_dot_product_attention", "cross_entropy_loss"),
    *("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "max_pool2d", "adaptive_avg_pool2d"),
    *("batch_norm", "layer_norm", "group_norm", "rms_norm", "softmax", "log_softmax", "square"),
}
# These operators share memory with their input, though they are not composite and their schema does not say so.
_SHARING = {"_unsafe_view", "lift", "unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk", "dequantize"}
# Python functions that return their argument, or a part of it.
_PASSING = (getattr, list, tuple, max, min, slice)
# Python functions that also join lists: the new list has the tensors from the old ones.
_JOINING = (operator.add, operator.iadd, operator.concat, operator.iconcat, operator.mul, operator.imul, sum)
# For each of these arguments, the value with which a call draws no random numbers.
_OFF: dict[str, Any] = {"training": False, "train": False, "p": 0, "dropout_p": 0}


def effect(node: fx.Node) -> Effect | None:
    """What a call does besides returning a value; ``None`` if its value depends only on its arguments."""
    if node.op in _READS:
        return None
    if node.op == "call_module":
        return _of_layer(node.graph.owning_module.get_submodule(str(node.target)))
    if isinstance(node.target, torch._ops.OpOverload):
        return _of_operator(node)
    if isinstance(node.target, torch._ops.HigherOrderOperator) and node.target.name() in _RUNNING:
        return _of_graphs(node)
    if node.target in _CHECKING:
        return Effect.CHECK
    if node.op == "call_function" and not _of_torch(node.target):
        private = str(getattr(node.target, "__name__", "")).startswith("_")
        home = (getattr(node.target, "__module__", None) or "torch").partition(".")[0]
        return Effect.MODE if private and home == "torch" else Effect.UNKNOWN
    return _of_name(node)


def may_share(node: fx.Node) -> bool:
    if node.op == "call_module":
        layer = node.graph.owning_module.get_submodule(str(node.target))
        return not isinstance(layer, _FRESH_LAYERS)
    if node.target in _PASSING or (node.target in _JOINING and _is_list(node)):
        return True
    overloads = [node.target] if isinstance(node.target, torch._ops.OpOverload) else list(_overloads(node))
    return not overloads or any(_may_share(overload) for overload in overloads)


def _may_share(overload: Any) -> bool:
    name = overload._schema.name.partition("::")[2]
    if any(value.alias_info is not None for value in overload._schema.returns) or name in _SHARING:
        return True
    try:
        composite = torch._C._dispatch_has_kernel_for_dispatch_key(overload.name(), "CompositeImplicitAutograd")
    except RuntimeError:  # a TorchScript operator, on numbers
        return False
    return composite and name not in _FRESH_COMPOSITES


def _is_list(value: Any) -> bool:
    """Whether an argument or the value of a call is a list, as from a split or a sum of lists."""
    if not isinstance(value, fx.Node):
        return isinstance(value, list | tuple)
    if value.target in (list, tuple):
        return True
    if value.target in _JOINING:
        return any(map(_is_list, value.args))
    if value.target is operator.getitem:
        return isinstance(value.args[1], slice) and _is_list(value.args[0])
    named = [value.target] if isinstance(value.target, torch._ops.OpOverload) else list(_overloads(value))
    results = [[result.type for result in overload._schema.returns] for overload in named if overload._schema.returns]
    # One overload of ``max`` returns a tensor, another returns two: ``x + x.max()`` joins no lists.
    return bool(results) and all(len(types) > 1 or isinstance(types[0], torch.ListType) for types in results if types)


class Memory:
    """Which values in a graph are in memory that a call in this graph may write to."""

    def __init__(self, module: fx.GraphModule) -> None:
        self._above: dict[Any, Any] = {}
        self._module = module
        written: list[Any] = []
        for node in module.graph.nodes:
            self._above.setdefault(node, node)
            what = effect(node)
            if node.op == "placeholder":
                self._join(node, "inputs")  # a caller may pass one tensor twice
            if node.op == "get_attr":
                for place in _storages([operator.attrgetter(node.target)(module)]):
                    self._join(node, place)
            if node.op.startswith("call") and (what in _MAY_WRITE or may_share(node)):
                for read in node.all_input_nodes:
                    self._join(node, read)
            if what in _MAY_WRITE:
                written += [*node.all_input_nodes, *self._places(node)[1:]]
        self._written = {self._find(place) for place in written}
        returned = module.graph.output_node().all_input_nodes
        self._returned = {self._find(node) for node in returned}

    def is_written(self, *values: fx.Node | Tensor) -> bool:
        """Whether a call may write into one of these: the value of a node, a tensor, or a tensor of a called layer."""
        places = [place for value in values for place in self._places(value)]
        return any(self._find(place) in self._written for place in places)

    def is_returned(self, node: fx.Node) -> bool:
        return self._find(node) in self._returned

    def merge(self, node: fx.Node, other: fx.Node) -> None:
        before = {self._find(node), self._find(other)}
        self._join(node, other)
        for places in (self._written, self._returned):
            if before & places:
                places.add(self._find(other))

    def _places(self, value: fx.Node | Tensor) -> list[Any]:
        """A node and the memory of the layer that it calls, or the memory of a tensor."""
        if isinstance(value, Tensor):
            return list(_storages([value]))
        if value.op != "call_module":
            return [value]
        layer = self._module.get_submodule(str(value.target))
        return [value, *_storages([*layer.parameters(), *layer.buffers()])]

    def _find(self, place: Any) -> Any:
        while (above := self._above.setdefault(place, place)) != place:
            place = above
        return place

    def _join(self, one: Any, other: Any) -> None:
        self._above[self._find(one)] = self._find(other)


def _storages(values: list[Any]) -> list[int]:
    dense = [value for value in values if isinstance(value, Tensor) and value.layout is torch.strided]
    return [value.untyped_storage()._cdata for value in dense]


def has_hooks(node: fx.Node) -> bool:
    """Whether a call to a layer runs more than its class says: its own or a global hook, or its own ``forward``."""
    if node.op != "call_module":
        return False
    return any(_hooked(part) for part in node.graph.owning_module.get_submodule(str(node.target)).modules())


def has_generator(node: fx.Node) -> bool:
    """Whether a call draws random numbers from its own generator, which torch's seed does not reset."""
    return effect(node) is Effect.RANDOM and node.op != "call_module" and _given(node).get("generator") is not None


def _hooked(layer: nn.Module) -> bool:
    hooks = (getattr(layer, kind) or getattr(nn.modules.module, f"_global{kind}") for kind in HOOKS)
    return any(hooks) or "forward" in vars(layer)


def _of_layer(layer: nn.Module) -> Effect | None:
    for part in layer.modules():
        if type(part).__module__ == "torch.export._unlift":
            return Effect.CHECK
        if not type(part).__module__.startswith("torch.nn.modules") or _hooked(part):
            return Effect.UNKNOWN
        if getattr(part, "inplace", False) or getattr(part, "max_norm", None) is not None:
            return Effect.WRITES
        if isinstance(part, _RANDOM_LAYERS) or (part.training and isinstance(part, _TRAINED)):
            return Effect.RANDOM if not isinstance(part, nn.modules.batchnorm._NormBase) else Effect.WRITES
    return None


def _of_operator(node: fx.Node) -> Effect | None:
    schema = node.target._schema
    if schema.is_mutable:
        return Effect.WRITES
    if node.target.namespace not in ("aten", "prims"):
        return Effect.UNKNOWN
    if not schema.returns:
        return Effect.WRITES if schema.name.partition("::")[2] in _BACKWARD else Effect.CHECK
    return _by_arguments(schema.name, _given(node), [node.target])


def _of_graphs(node: fx.Node) -> Effect | None:
    """The worst effect in the graphs that a higher-order operator runs."""
    module = node.graph.owning_module
    fetched = [operator.attrgetter(read.target)(module) for read in node.all_input_nodes if read.op == "get_attr"]
    inside = {effect(one) for part in fetched if isinstance(part, fx.GraphModule) for one in part.graph.nodes}
    return next((what for what in _WORST_FIRST if what in inside), None)


def _of_name(node: fx.Node) -> Effect | None:
    name = str(node.target) if node.op == "call_method" else node.target.__name__
    if node.target in _PYTHON or getattr(node.target, "__module__", "") == "math":
        return None
    if node.target in _CALLING:
        return Effect.UNKNOWN
    if (
        name in inplace_methods
        or node.target in _WRITING
        or (name.endswith("_") and not name.startswith("__"))
        or node.kwargs.get("out") is not None
    ):
        return Effect.WRITES
    if node.op == "call_method" and name in _BACKWARD:
        return Effect.WRITES
    if node.op == "call_method" and name in _CONVERTING:
        return None
    if name.startswith("_"):
        return Effect.MODE
    if name.startswith(_DRAWING):
        return Effect.RANDOM
    overloads = list(_overloads(node))
    if not overloads:
        home = getattr(node.target, "__module__", "")
        return None if home == "_operator" else Effect.UNKNOWN
    if all(overload._schema.is_mutable for overload in overloads):
        return Effect.WRITES
    if not all(overload._schema.returns for overload in overloads):  # manual_seed, set_grad_enabled
        return Effect.MODE
    return _by_arguments(name, _given(node), overloads)


def _by_arguments(name: str, given: dict[str, Any], overloads: list[Any]) -> Effect | None:
    if given.get("inplace") or given.get("max_norm") is not None or name.rpartition("::")[2] in _MOVING:
        return Effect.WRITES
    functional_norm = name.endswith("functional")
    if "norm" in name and not functional_norm and (given.get("training") or given.get("use_input_stats")):
        return Effect.WRITES
    drawn = any(torch.Tag.nondeterministic_seeded in overload.tags for overload in overloads)
    off = [given.get(argument, "absent") for argument in _OFF]
    if drawn and not any(value == wanted for value, wanted in zip(off, _OFF.values(), strict=True)):
        return Effect.RANDOM
    return None


def _given(node: fx.Node) -> dict[str, Any]:
    """The arguments of a call by name, as far as torch knows the names."""
    if isinstance(node.target, torch._ops.OpOverload):
        given = {argument.name: argument.default_value for argument in node.target._schema.arguments}
        given.update(zip(given, node.args, strict=False))
        return {**given, **node.kwargs}
    given = dict(node.kwargs)
    for overload in _overloads(node):
        defaults = {argument.name: argument.default_value for argument in overload._schema.arguments}
        given = {**defaults, **dict(zip(defaults, node.args, strict=False)), **given}
    try:
        known = node.normalized_arguments(node.graph.owning_module, normalize_to_only_use_kwargs=True)
    except (RuntimeError, AssertionError):  # torch has several functions with this name
        known = None
    return known.kwargs if known else given


def _overloads(node: fx.Node) -> Iterator[Any]:
    """The ATen operators that have a function's or method's name, without the ``out`` variants.

    Overloads that change a list, which are for TorchScript, and those with named dimensions are also left out.
    """
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return
    name = str(node.target) if node.op == "call_method" else str(getattr(node.target, "__name__", ""))
    packet = getattr(aten, _OF_ATEN.get(name.strip("_") if name.startswith("__") else name, name), None)
    named = packet.overloads() if isinstance(packet, torch._ops.OpOverloadPacket) else []
    kept = (overload for overload in named if "out" not in overload and "name" not in overload.lower())
    found = (getattr(packet, overload) for overload in kept)
    yield from (overload for overload in found if not _changes_a_list(overload))


def _changes_a_list(overload: Any) -> bool:
    arguments = [argument for argument in overload._schema.arguments if isinstance(argument.type, torch.ListType)]
    return any(argument.alias_info is not None and argument.alias_info.is_write for argument in arguments)


def _of_torch(target: Any) -> bool:
    """Whether a function belongs to torch or Python and is found there under its own name."""
    name = getattr(target, "__name__", "")
    homes = (torch, functional, operator, math, torch.special, torch.linalg, torch.fft)
    return target in _PYTHON or any(getattr(home, name, None) is target for home in homes)
