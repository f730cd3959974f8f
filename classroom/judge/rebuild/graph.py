"""Rebuild a student's graph from a description by :mod:`fxbook.graph.wire`, calling only what is allowed.

Everything in the description may be forged. Nothing in it is imported, unpickled or looked up by attribute: a function
is a key of :mod:`classroom.judge.allowed`, a path leads through submodules that were built here, and a name must be an
identifier before torch.fx writes it into code. So it is safe to compile and run the graph, except that it may use any
amount of time and memory and crash torch. Therefore this belongs in a process with limits.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import fx, nn

from classroom.judge import allowed
from classroom.judge.rebuild.modules import Modules
from classroom.judge.rebuild.values import NAME, RefusedError, UnreadableError, name_of, path_of, plain, value_of
from fxbook.graph.wire import MOST_NODES

JSON = Any
Functions = Mapping[str, Callable[..., Any]]
_MOST_MODULES = 2000
_OPCODES = {"placeholder", "get_attr", "call_function", "call_method", "call_module", "output"}
# The classes of all values in a graph except modules. A method that none of them has can only raise an error.
_RECEIVERS = (
    torch.Tensor, torch.Size, str, int, float, complex, tuple, list, dict, slice, range, type(None), type(Ellipsis),
    torch.dtype, torch.device, torch.layout, torch.memory_format, torch.return_types.max,
)  # fmt: skip


def rebuild(description: JSON, root: nn.Module, own: Callable[[], Functions]) -> fx.Graph | fx.GraphModule:
    """Rebuild the described graph, and compile a GraphModule if torch.fx can.

    Args:
        root: a fresh copy of the model that the answer got; it is changed in the same way as the student's.
        own: returns the functions that the model itself calls, by readable name; needed for functions that are not
            torch's.

    Raises:
        RefusedError: the graph contains something that is not on the list, or is too large.
        UnreadableError: this does not describe a graph.
        MemoryError: there is not enough memory.
    """
    match description:
        case {"refused": str(why)}:
            raise RefusedError(plain(why))
        case {
            "kind": "Graph" | "GraphModule" as kind,
            "nodes": list(nodes),
            "modules": list(modules),
            "tensors": list(),
        }:
            pass
        case _:
            raise UnreadableError
    if len(nodes) > MOST_NODES or len(modules) > _MOST_MODULES:
        raise RefusedError(f"the graph has {len(nodes)} nodes, and its module {len(modules)} submodules")
    try:
        builder = Modules(description, root)
        host = builder.host(kind)
        graph = _Nodes(nodes, host, builder, own).graph(description.get("inserts"))
    except (RefusedError, UnreadableError, MemoryError):
        raise
    except Exception as error:
        raise RefusedError(f"the graph cannot be rebuilt ({type(error).__name__}: {plain(str(error))})") from error
    if not isinstance(host, fx.GraphModule) or kind == "Graph":
        return graph
    host._graph = graph
    graph.owning_module = host
    # If torch.fx cannot generate code, the record of the graph says so.
    with contextlib.suppress(Exception):
        host.recompile()
    return host


class _Nodes:
    def __init__(self, entries: list[JSON], host: nn.Module, modules: Modules, own: Callable[[], Functions]) -> None:
        self._entries, self._host, self._modules, self._own = entries, host, modules, own
        self._graph = fx.Graph()
        self._made: list[fx.Node] = []
        self._foreign: dict[tuple[str, bool], fx.Node] = {}
        self._elsewhere = fx.Graph()

    def graph(self, inserts: JSON = None) -> fx.Graph:
        """Build all nodes. The arguments are set last, because a broken graph may read nodes that come later."""
        for entry in self._entries:
            match entry:
                case {"op": str(op), "name": str(name), "target": str() | dict() as target}:
                    self._made.append(self._new(op, name_of(name), target))
                case _:
                    raise UnreadableError
        for node, entry in zip(self._made, self._entries, strict=True):
            args, kwargs = (value_of(entry.get(part), self._node, self._modules.tensor) for part in ("args", "kwargs"))
            if not isinstance(args, tuple | list) or not isinstance(kwargs, dict):
                raise UnreadableError
            if node.target is getattr and not (len(args) in (2, 3) and allowed.is_attribute(args[1]) and not kwargs):
                raise RefusedError(
                    f"node `{node.name}` calls `getattr` for something other than plain data of a tensor"
                )
            for key in kwargs:
                name_of(key)
            node.args, node.kwargs = args, kwargs
        self._insert_at(inserts)
        return self._graph

    def _insert_at(self, description: JSON) -> None:
        match description:
            case None:
                return
            case {"before": place} | {"after": place}:
                anchor = self._of_another("anchor", erased=True) if place is None else self._node({"node": place})
                self._graph._insert = anchor.append if "after" in description else anchor.prepend
            case _:
                raise UnreadableError

    def _new(self, op: str, name: str, description: str | JSON) -> fx.Node:
        target = self._target(op, name, description)
        usual = op in _OPCODES and (callable(target) if op == "call_function" else isinstance(target, str))
        if usual:
            node = self._graph.create_node(op, target, (), {}, name)
        else:
            # torch.fx does not create such a node, but allows the assignment.
            node = self._graph.create_node("call_method", "relu", (), {}, name)
            node.op, node.target = name_of(op), target
        if node.name != name:
            node.name = name
        return node

    def _target(self, op: str, name: str, description: str | JSON) -> Any:
        match description:
            case str() if op == "placeholder":
                name_of(description.removeprefix("*").removeprefix("*"))
            case str() if op in ("get_attr", "call_module"):
                if not self._is_there_or_nothing(path_of(description)):
                    raise RefusedError(
                        f"node `{name}` fetches `{plain(description)}`, which is neither a submodule nor a tensor"
                    )
            case str() if op == "call_method":
                if description not in allowed.methods() and not self._nobody_has(description):
                    raise RefusedError(f"node `{name}` calls the method `{plain(description)}`")
            case str():
                path_of(description)
            case {"function": str(function)}:
                target = allowed.function(function) or self._own().get(function)
                if target is None:
                    raise RefusedError(f"node `{name}` calls `{plain(function)}`")
                return target
            case {"unknown": str(function)}:
                raise RefusedError(f"node `{name}` calls `{plain(function)}`, a function that is not torch's")
            case _:
                raise UnreadableError
        return description

    def _nobody_has(self, method: str) -> bool:
        """Whether no value of a graph has this method, so that a call can only raise an error."""
        name = not method.startswith("_") and NAME.fullmatch(method)
        return bool(name) and not any(hasattr(receiver, method) for receiver in (*_RECEIVERS, *self._modules.all()))

    def _is_there_or_nothing(self, path: str) -> bool:
        """Whether a path leads to something that modules hold, or to nothing, which can only raise an error."""
        module: Any = self._host
        *parts, last = path.split(".")
        for part in parts:
            inner = module._modules.get(part)
            if inner is None:
                return getattr(module, part, None) is None
            module = inner
        if any(last in members for members in (module._modules, module._parameters, module._buffers)):
            return True
        is_plain = isinstance(vars(module).get(last), torch.Tensor | bool | int | float | str | tuple | list)
        return (is_plain and not last.startswith("_")) or getattr(module, last, None) is None

    def _node(self, description: JSON) -> fx.Node:
        match description:
            case {"node": int(place)} if type(place) is int and 0 <= place < len(self._made):
                return self._made[place]
            case {"foreign": str(name), "erased": bool(erased)}:
                return self._of_another(name_of(name), erased)
            case _:
                raise UnreadableError

    def _of_another(self, name: str, erased: bool) -> fx.Node:
        """A stand-in for an erased node or a node from another graph."""
        if (name, erased) not in self._foreign:
            if len(self._foreign) > 100:
                raise RefusedError("it reads too many nodes from other graphs")
            node = (self._graph if erased else self._elsewhere).create_node("placeholder", "foreign", (), {}, name)
            node.name = name
            if erased:
                self._graph.erase_node(node)
            self._foreign[name, erased] = node
        return self._foreign[name, erased]
