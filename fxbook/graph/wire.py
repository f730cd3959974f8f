"""Describe a graph as plain data, completely enough to rebuild it elsewhere without the code that made it.

:mod:`fxbook.graph.record` describes what a graph looks like; this describes what it is. The grader needs it: a judge
that rebuilds and runs a graph does not have to trust what the answer's process reports. Nothing is checked here, so the
code that rebuilds must check everything. The data is::

    {"kind": "GraphModule" | "Graph", "nodes": […], "modules": […], "tensors": […], "inserts": …}
    {"refused": "why it cannot be described"}

A **node** is ``{"op", "name", "target", "args", "kwargs"}``. Its target is a string, ``{"function": "torch.relu"}`` if
importing that name gives the same object, or ``{"unknown": "helper"}`` otherwise.

``inserts`` is where the next node would be inserted: ``None`` for the end of the list, else ``{"before": place}`` or
``{"after": place}`` in the list of nodes; the place is ``None`` for an erased node.

A **value** among arguments and settings has the form of :mod:`fxbook.graph.plain`, with ``node`` (place in the list),
``foreign`` (a node outside the list, with ``erased``) and ``tensor`` (place in ``tensors``).

A **module** in ``modules``, the first of which is the root, is one of ``{"given": path}`` (that object of the given
model, whose own path is ``""``), ``{"like": path}`` (another object of that class), ``{"class": "torch.nn.ReLU"}``,
``{"unknown": "Helper"}``. Unless it is given and unchanged, it also has ``training``, ``settings`` (attributes
that are plain data), and by name, as places in the lists, ``children``, ``parameters``, ``buffers`` (with whether
``state_dict`` contains them) and ``attributes`` (tensors that are neither).

A **tensor** in ``tensors`` is ``{"given": name}`` if it was given and is unchanged, else ``{"dtype", "shape", "data",
"parameter", "requires_grad"}``, with its bytes in base64.
"""

from __future__ import annotations

import base64
import sys
from typing import Any

import torch
from torch import fx, nn

from fxbook.graph.given import HOOKS, Given
from fxbook.graph.naming import callable_name
from fxbook.graph.plain import MOST_TEXT, plain
from fxbook.graph.record import insertion_of
from fxbook.graph.stored import bytes_of, children_of, plain_tensors, settings_of

JSON = Any
MOST_NODES = 5000
MOST_BYTES = 8 << 20
_Tensor, _Parameter, _GraphModule = torch.Tensor, nn.Parameter, fx.GraphModule


def describe(result: fx.Graph | fx.GraphModule, given: Given) -> JSON:
    """An answer's result as data from which to rebuild it; the root of a bare graph is the given model.

    Raises MemoryError, but describes any other failure.
    """
    try:
        return _Description(given).of(result)
    except MemoryError:
        raise
    except _TooLargeError as error:
        return {"refused": str(error)}
    except Exception as error:
        return {"refused": f"the graph cannot be described ({type(error).__name__})"}


class _TooLargeError(Exception):
    """The result exceeds a limit of the description; the message names the limit."""


class _Description:
    def __init__(self, given: Given) -> None:
        self.given = given
        self.modules: list[JSON] = []
        self.tensors: list[JSON] = []
        self._placed: dict[int, int] = {}
        self._bytes = 0
        self._kept: list[Any] = []

    def of(self, result: fx.Graph | fx.GraphModule) -> JSON:
        is_module = isinstance(result, _GraphModule)
        graph = result.graph if is_module else result
        nodes = list(graph.nodes)
        if len(nodes) > MOST_NODES:
            raise _TooLargeError(f"the graph has {len(nodes)} nodes")
        if type(graph._codegen) is not fx.graph.CodeGen:
            return {"refused": f"its code is made by a {type(graph._codegen).__name__}"}
        self.module(result if is_module else self.given.root)
        position = {node: index for index, node in enumerate(nodes)}
        return {
            "kind": "GraphModule" if is_module else "Graph",
            "nodes": [self._node(node, position) for node in nodes],
            "modules": self.modules,
            "tensors": self.tensors,
            "inserts": _inserts(graph, position),
        }

    def module(self, module: nn.Module) -> int:
        if id(module) in self._placed:
            return self._placed[id(module)]
        place = self._placed[id(module)] = len(self.modules)
        self._kept.append(module)
        entry = self._kind_of(module, is_root=place == 0)
        self.modules.append(entry)
        if "unknown" in entry or ("given" in entry and self.given.is_as_it_was(module)):
            return place
        entry["training"] = module.training
        entry["settings"] = settings_of(module)
        entry["children"] = {name: self.module(child) for name, child in children_of(module)}
        entry["parameters"] = {name: self._tensor(held) for name, held in module._parameters.items()}
        entry["buffers"] = {
            name: [self._tensor(held), name not in module._non_persistent_buffers_set]
            for name, held in module._buffers.items()
        }
        entry["attributes"] = {name: self._tensor(held) for name, held in plain_tensors(module)}
        return place

    def _kind_of(self, module: nn.Module, is_root: bool) -> JSON:
        path = self.given.path_of(module)
        if path is not None:
            entry = {"given": path}
        elif is_root:
            entry = {"class": "torch.fx.GraphModule"}
        elif type(module) in self.given.kinds and not isinstance(module, _GraphModule):
            entry = {"like": self.given.kinds[type(module)]}
        else:
            name = f"torch.nn.{type(module).__name__}"
            known = getattr(nn, type(module).__name__, None) is type(module)
            entry = {"class": name} if known else {"unknown": type(module).__name__}
        # An Interpreter calls the root's forward, not its hooks.
        if not is_root and any(getattr(module, name, None) for name in HOOKS):
            return {"unknown": f"{type(module).__name__} with hooks"}
        if not is_root and "forward" in vars(module) and not isinstance(module, _GraphModule):
            return {"unknown": f"{type(module).__name__} with a forward of its own"}
        return entry

    def _tensor(self, tensor: torch.Tensor | None) -> int | None:
        if tensor is None:
            return None
        if id(tensor) in self._placed:
            return self._placed[id(tensor)]
        place = self._placed[id(tensor)] = len(self.tensors)
        self._kept.append(tensor)
        name = self.given.tensors.get(id(tensor))
        entry: JSON = {} if name is None else {"given": name}
        if name is None or not self.given.holds_what_it_held(tensor):
            entry |= self._values_of(tensor)
        self.tensors.append(entry)
        return place

    def _values_of(self, tensor: torch.Tensor) -> JSON:
        if type(tensor) not in (_Tensor, _Parameter) or tensor.layout != torch.strided or tensor.is_meta:
            return {"unknown": f"a {type(tensor).__name__} of {tensor.layout} on {tensor.device}"}
        if tensor.is_quantized or tensor.grad_fn is not None:
            return {"unknown": "a tensor that was computed with gradients"}
        self._bytes += tensor.numel() * tensor.element_size()
        if self._bytes > MOST_BYTES:
            raise _TooLargeError(f"its own tensors are larger than {MOST_BYTES >> 20} MiB")
        return {
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "shape": list(tensor.shape),
            "data": base64.b64encode(_raw(tensor)).decode() if tensor.numel() else "",
            "parameter": isinstance(tensor, _Parameter),
            "requires_grad": tensor.requires_grad,
        }

    def _node(self, node: fx.Node, position: dict[fx.Node, int]) -> JSON:
        target = node.target
        return {
            "op": str(node.op),
            "name": str(node.name),
            "target": target[:MOST_TEXT] if isinstance(target, str) else _function(target),
            "args": self._value(node.args, position),
            "kwargs": self._value(node.kwargs, position),
        }

    def _value(self, value: Any, position: dict[fx.Node, int]) -> JSON:
        def special(inner: Any) -> JSON | None:
            match inner:
                case fx.Node() if inner in position:
                    return {"node": position[inner]}
                case fx.Node():
                    return {"foreign": inner.name, "erased": bool(getattr(inner, "_erased", False))}
                case _Tensor():
                    return {"tensor": self._tensor(inner)}
                case set() | frozenset():
                    return {"opaque": type(inner).__name__}
                case tuple() if hasattr(inner, "_fields"):
                    return {"opaque": type(inner).__name__}
                case _:
                    return None

        return plain(value, special)


def _inserts(graph: fx.Graph, position: dict[fx.Node, int]) -> JSON:
    found = insertion_of(graph)
    return None if found is None else {found.side: None if found.anchor is None else position[found.anchor]}


def _function(target: Any) -> JSON:
    """The name under which importing gives the same object, since the function's own name may belong to another one."""
    name = callable_name(target) if callable(target) else type(target).__name__
    # Python's own name is tried first, because torch has different functions under some of these names.
    for spelled in (f"builtins.{getattr(target, '__name__', name)}", name):
        if _imported(spelled) is target:
            return {"function": spelled}
    return {"unknown": name[:200]}


def _imported(name: str) -> Any:
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:cut]))
        if found is not None:
            for part in parts[cut:]:
                found = getattr(found, part, None)
            return found
    return None


def _raw(tensor: torch.Tensor) -> bytes:
    raw = bytearray(tensor.numel() * tensor.element_size())
    torch.frombuffer(raw, dtype=torch.uint8).copy_(bytes_of(tensor))
    return bytes(raw)
