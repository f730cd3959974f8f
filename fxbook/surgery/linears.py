"""Find the linear layers in any graph, however they are spelled, and say which of them may be changed.

A linear layer is a call to ``nn.Linear``, ``F.linear``, ``aten.linear``, or ``addmm``, which GPT-2's ``Conv1D`` calls
with a weight that is stored as ``(in, out)``. Calls with the same weight are one layer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.passes.shape_prop import TensorMetadata

from fxbook.surgery.effects import has_hooks

_ATEN = torch.ops.aten
# The positions of input, weight and bias in each function.
_PLACES = {
    nn.functional.linear: {"input": 0, "weight": 1, "bias": 2},
    _ATEN.linear.default: {"input": 0, "weight": 1, "bias": 2},
    torch.addmm: {"bias": 0, "input": 1, "weight": 2},
    _ATEN.addmm.default: {"bias": 0, "input": 1, "weight": 2},
}
_NAMES = {torch.addmm: {"mat1": "input", "mat2": "weight", "input": "bias"}}
_NAMES[_ATEN.addmm.default] = {"mat1": "input", "mat2": "weight", "self": "bias"}
_TRANSPOSED = (torch.addmm, _ATEN.addmm.default)


@dataclasses.dataclass(frozen=True)
class Linear:
    """A weight, and the calls that multiply by it, in list order.

    Attributes:
        name: the qualified name of the weight, as in ``state_dict()``.
        names: all its names, if several layers share it.
        weight: ``(out, in)``, or ``(in, out)`` if it is transposed.
    """

    name: str
    names: tuple[str, ...]
    weight: nn.Parameter
    transposed: bool
    calls: tuple[fx.Node, ...]

    @property
    def layer(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def shape(self) -> tuple[int, int]:
        """``(out, in)``, however the weight is stored."""
        first, second = self.weight.shape
        return (second, first) if self.transposed else (first, second)


@dataclasses.dataclass(frozen=True)
class Linears:
    """The layers that a pass may change, and for each other layer, the reason why not, by qualified name or node."""

    found: tuple[Linear, ...]
    left_alone: dict[str, str]

    def called(self, layers: Iterable[str]) -> tuple[list[Linear], dict[str, str]]:
        """The layers whose paths end with one of these names, and remarks by name.

        If layers share a weight, each of its names counts. A remark says that no layer has the name, or which layers
        share a weight under several names.
        """
        asked, told = set(layers), {}
        ends = {one.name: {name.split(".")[-2] for name in one.names if "." in name} for one in self.found}
        known = set().union(*ends.values(), *(name.split(".") for name in self.left_alone))
        for name in sorted(asked - known):
            told[name] = "no linear layer has this name"
        chosen = [one for one in self.found if ends[one.name] & asked]
        for one in chosen:
            for name in one.names:
                if name != one.name:
                    told[name] = f"it is {one.name}, which is changed for both"
        return chosen, told


def linears(module: fx.GraphModule) -> Linears:
    """The linear layers of a graph.

    These are left alone: a layer of a subclass or with hooks, a weight that the graph computes, a weight with another
    user (such as a tied embedding), a weight that is multiplied by itself, and a product that is scaled.
    """
    tensors = dict(_state(module))
    left: dict[str, str] = {}
    readers = _readers(module)
    calls: dict[int, list[tuple[str, bool, fx.Node]]] = {}
    for node in module.graph.nodes:
        if not _looks_linear(module, node):
            continue
        name, reason = _weight_name(module, node)
        if reason:
            left[name] = reason
        else:
            calls.setdefault(_storage(tensors[name]), []).append((name, node.target in _TRANSPOSED, node))
    found = []
    for storage, group in calls.items():
        (name, transposed, _), nodes = group[0], tuple(node for *_, node in group)
        others = [node for node in readers[storage] if node not in nodes]
        twice = [node for node in nodes if storage in _further_operands(module, node)]
        if others:
            left[name] = f"{others[0].name} reads the weight too"
        elif twice:
            left[name] = f"{twice[0].name} reads the weight twice"
        elif any(how != transposed or tensors[other] is not tensors[name] for other, how, _ in group):
            left[name] = "its calls read the weight in two forms"
        else:
            names = tuple(other for other, tensor in tensors.items() if tensor is tensors[name])
            found.append(Linear(name, names, tensors[name], transposed, nodes))
    return Linears(tuple(found), left)


def operand(call: fx.Node, name: str) -> fx.Node | None:
    """The ``"input"``, the ``"weight"`` or the ``"bias"`` of a call; for a layer, only its input."""
    if call.op == "call_module":
        return call.args[0] if call.args else call.kwargs["input"]
    place = _PLACES[call.target][name]
    names = {_NAMES.get(call.target, {}).get(keyword, keyword): value for keyword, value in call.kwargs.items()}
    return call.args[place] if place < len(call.args) else names.get(name)


def spell_out(module: fx.GraphModule, call: fx.Node) -> fx.Node:
    """Turn a call to a layer into a call to ``F.linear``, in place; the weights keep their names.

    The `GraphModule` gets a module with the same weights in place of the layer, so that the original model keeps its
    layer.

    Returns:
        The call, which is the same node if it is a function already.
    """
    if call.op != "call_module":
        return call
    graph, path = call.graph, call.target
    layer = module.get_submodule(path)
    if type(layer) is nn.Linear:
        holder = nn.Module()
        holder.train(layer.training)
        holder.weight, holder.bias = layer.weight, layer.bias
        module.set_submodule(path, holder)
    with graph.inserting_before(call):
        weight = graph.get_attr(f"{path}.weight")
        bias = None if layer.bias is None else graph.get_attr(f"{path}.bias")
        new = graph.call_function(nn.functional.linear, (operand(call, "input"), weight, bias))
    new.meta = dict(call.meta)
    for node, tensor in ((weight, layer.weight), (bias, layer.bias)):
        if node is not None:
            node.meta = _notes(call, tensor)
    call.replace_all_uses_with(new)
    graph.erase_node(call)
    return new


def _notes(call: fx.Node, tensor: Tensor) -> dict[str, Any]:
    """The meta of a node that fetches a layer's tensor: the call's meta, with the example replaced."""
    notes = {key: value for key, value in call.meta.items() if key not in ("val", "example_value", "tensor_meta")}
    if isinstance(result := call.meta.get("val"), FakeTensor):
        notes["val"] = result.fake_mode.from_tensor(tensor, static_shapes=True)
    if "tensor_meta" in call.meta:
        layout = torch.contiguous_format if tensor.is_contiguous() else None
        form = tensor.shape, tensor.dtype, tensor.requires_grad, tensor.stride(), layout
        notes["tensor_meta"] = TensorMetadata(*form, is_quantized=False, qparams={})
    return notes


def _looks_linear(module: fx.GraphModule, node: fx.Node) -> bool:
    if node.op == "call_module":
        return isinstance(module.get_submodule(node.target), nn.Linear)
    return node.op == "call_function" and node.target in _PLACES


def _weight_name(module: fx.GraphModule, node: fx.Node) -> tuple[str, str]:
    """The name of the weight; or the name of the layer, with the reason why it may not be changed."""
    if node.op == "call_module":
        layer = module.get_submodule(node.target)
        if type(layer) is not nn.Linear:
            return node.target, f"it is a {type(layer).__name__}"
        if has_hooks(node):
            return node.target, "it has hooks"
        if any(other.op == "call_module" and _is_inside(node.target, other.target) for other in node.graph.nodes):
            return node.target, "it lies inside a layer that the graph calls"
        return f"{node.target}.weight", ""
    weight, bias = operand(node, "weight"), operand(node, "bias")
    if not isinstance(weight, fx.Node) or weight.op != "get_attr":
        return node.name, "its weight is an input or is computed"
    if node.target in _TRANSPOSED:
        scaled = {"alpha", "beta"} & set(node.kwargs) or len(node.args) > 3
        if scaled or not isinstance(bias, fx.Node) or bias.op != "get_attr":
            return node.name, "its sum is not that of a product and a stored bias"
    value = _attribute(module, weight.target)
    if not isinstance(value, nn.Parameter) or not value.is_floating_point() or value.ndim != 2:
        return node.name, "its weight is not a matrix of floating-point parameters"
    if any(other.op == "call_module" and _is_inside(weight.target, other.target) for other in node.graph.nodes):
        return node.name, "its weight lies inside a layer that the graph calls"
    return weight.target, ""


def _is_inside(path: str, layer: str) -> bool:
    return path.startswith(f"{layer}.")


def _attribute(module: nn.Module, path: str) -> object:
    for part in path.split("."):
        module = getattr(module, part)
    return module


def _state(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


def _storage(tensor: Tensor) -> int:
    # A tensor without memory, such as a fake one, is identified by its id.
    return tensor.untyped_storage().data_ptr() or id(tensor)


def _further_operands(module: fx.GraphModule, call: fx.Node) -> list[int]:
    parts = (operand(call, "input"), operand(call, "bias"))
    values = [_attribute(module, part.target) for part in parts if isinstance(part, fx.Node) and part.op == "get_attr"]
    return [_storage(value) for value in values if isinstance(value, Tensor)]


def _readers(module: fx.GraphModule) -> dict[int, list[fx.Node]]:
    """The nodes that use each piece of memory in the module's state."""
    readers: dict[int, list[fx.Node]] = {}
    for node in module.graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        value = _attribute(module, node.target)
        users: Iterable[fx.Node] = (node,) if node.op == "call_module" else node.users
        held = [tensor for _, tensor in _state(value)] if isinstance(value, nn.Module) else [value]
        for tensor in held:
            if isinstance(tensor, Tensor):
                readers.setdefault(_storage(tensor), []).extend(users)
    return readers
