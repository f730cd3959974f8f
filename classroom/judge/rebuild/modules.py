"""Rebuild the modules and tensors of a student's graph from their descriptions.

A module is taken from a fresh copy of the given model, or is a new instance of a class in that model or of a
``torch.nn`` class whose instances hold only plain data and tensors. See :mod:`classroom.judge.rebuild.graph` on trust.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any

import torch
from torch import fx, nn

from classroom.judge import allowed
from classroom.judge.rebuild.values import (
    NAME,
    RefusedError,
    UnreadableError,
    items,
    part_of_path,
    plain,
    tensor_of,
    value_of,
)
from fxbook.graph.stored import held_by
from fxbook.graph.wire import MOST_BYTES

JSON = Any
_MOST_PATHS = 20_000
_DEEPEST = 100
# Parameters of constructors that do not affect the described state.
_ELSEWHERE = {"device", "dtype"}


class Modules:
    """The described modules and tensors, each made on demand."""

    def __init__(self, description: JSON, root: nn.Module) -> None:
        self._modules, self._tensors = description["modules"], description["tensors"]
        self._root = root
        self._given = dict(root.named_modules())
        self._held = {
            f"{path}.{name}" if path else name: tensor
            for path, module in self._given.items()
            for name, tensor in held_by(module)
        }
        self._made: dict[int, nn.Module] = {}
        self._made_tensors: dict[int, torch.Tensor] = {}
        self._depth = 0
        self._taken: set[str] = set()
        self._bytes = 0

    def host(self, kind: str) -> nn.Module:
        """The module in which the graph runs: the first one."""
        match self._modules:
            case [{"given": ""}, *_] if kind == "Graph" or isinstance(self._root, fx.GraphModule):
                host = self.module(0)
            case [{"class": "torch.fx.GraphModule"} as entry, *_] if kind == "GraphModule":
                host = fx.GraphModule(nn.Module(), fx.Graph())
                self._fill(host, entry)
                self._made[0] = host
            case _:
                raise UnreadableError
        if _paths(host, {}) > _MOST_PATHS:
            raise RefusedError("its modules contain each other too often")
        return host

    def all(self) -> list[nn.Module]:
        return [*self._made.values(), *self._given.values()]

    def module(self, place: JSON) -> nn.Module:
        if type(place) is not int or not 0 <= place < len(self._modules):
            raise UnreadableError
        if place in self._made:
            return self._made[place]
        if self._depth > _DEEPEST:
            raise RefusedError("its modules are nested too deeply, or contain themselves")
        self._depth += 1
        entry = self._modules[place]
        module = self._new(entry)
        if "children" in entry:
            self._fill(module, entry)
        elif "given" not in entry:
            raise UnreadableError
        self._depth -= 1
        self._made[place] = module
        return module

    def _new(self, entry: JSON) -> nn.Module:
        match entry:
            case {"given": str(path)} if path in self._given and path not in self._taken:
                self._taken.add(path)
                return self._given[path]
            case {"like": str(path)} if path in self._given and not isinstance(self._given[path], fx.GraphModule):
                return _twin(self._given[path])
            case {"class": str(name)}:
                return self._of_class(name, entry)
            case {"unknown": str(name)}:
                raise RefusedError(f"it has a submodule of class {plain(name)}, which the grader does not build")
            case _:
                raise UnreadableError

    def _of_class(self, name: str, entry: JSON) -> nn.Module:
        cls = allowed.module_class(name)
        if not hasattr(nn, name.removeprefix("torch.nn.")):
            raise UnreadableError
        if cls is None:
            raise RefusedError(f"it has a submodule of class {plain(name)}, which the grader does not build")
        settings = {key: value_of(value) for key, value in items(entry, "settings")}
        known = [key for key in inspect.signature(cls).parameters if key not in _ELSEWHERE and not key.startswith("_")]
        arguments = {key: settings[key] for key in known if key in settings}
        if "bias" in known and "bias" not in arguments:
            arguments["bias"] = dict(items(entry, "parameters")).get("bias") is not None
        # Allocate no memory, whatever the sizes; the described values are set later.
        with torch.device("meta"):
            module = cls(**arguments)
        places = dict(items(entry, "parameters")) | dict(items(entry, "buffers"))
        if missing := [key for key, _ in held_by(module) if key not in places]:
            raise RefusedError(f"one of its {name} modules has no {missing[0]!r}")
        return module

    def _fill(self, module: nn.Module, entry: JSON) -> None:
        if not isinstance(entry.get("training"), bool):
            raise UnreadableError
        module.training = entry["training"]
        children = {part_of_path(name): self.module(place) for name, place in items(entry, "children")}
        for name, child in children.items():
            if name not in module._modules:
                module.add_module(name, child)
        # The order matters for a Sequential. Children that are None stay.
        empty = {name: None for name, child in module._modules.items() if child is None}
        module._modules.clear()
        module._modules.update({**empty, **children})
        self._fill_parameters(module, entry)
        self._fill_buffers(module, entry)
        for name, place in items(entry, "attributes"):
            if hasattr(module, part_of_path(name)) and not isinstance(vars(module).get(name), torch.Tensor):
                raise RefusedError(f"it has an attribute {plain(name)!r} that is a tensor")
            vars(module)[name] = self.tensor(place)
        for name, value in items(entry, "settings"):
            self._set(module, name, value_of(value))

    def _fill_parameters(self, module: nn.Module, entry: JSON) -> None:
        places = dict(items(entry, "parameters"))
        for name in [name for name in module._parameters if name not in places]:
            del module._parameters[name]
        for name, place in places.items():
            parameter = None if place is None else self.tensor(place)
            if not isinstance(parameter, nn.Parameter | None):
                raise UnreadableError
            if name not in module._parameters:
                module.register_parameter(part_of_path(name), parameter)
            elif parameter is not module._parameters[name]:
                setattr(module, name, parameter)

    def _fill_buffers(self, module: nn.Module, entry: JSON) -> None:
        pairs = dict(items(entry, "buffers"))
        for name in [name for name in module._buffers if name not in pairs]:
            del module._buffers[name]
        for name, pair in pairs.items():
            match pair:
                case [place, bool(persistent)]:
                    buffer = None if place is None else self.tensor(place)
                case _:
                    raise UnreadableError
            if name not in module._buffers:
                module.register_buffer(part_of_path(name), buffer)
            module._buffers[name] = buffer
            keep = module._non_persistent_buffers_set
            keep.discard(name) if persistent else keep.add(name)

    def _set(self, module: nn.Module, name: str, value: Any) -> None:
        """Set an attribute to plain data. Its name must not begin with ``_``, and its old value must be plain data."""
        if name.startswith("_") or not NAME.fullmatch(name) or name == "training":
            raise UnreadableError
        if name in vars(module):
            if not isinstance(vars(module)[name], bool | int | float | str | tuple | list | None):
                raise RefusedError(f"it has an attribute {plain(name)!r} that is plain data")
        elif hasattr(module, name):
            return
        vars(module)[name] = value

    def tensor(self, place: JSON) -> torch.Tensor:
        if type(place) is not int or not 0 <= place < len(self._tensors):
            raise UnreadableError
        if place not in self._made_tensors:
            self._made_tensors[place] = self._tensor(self._tensors[place])
        return self._made_tensors[place]

    def _tensor(self, entry: JSON) -> torch.Tensor:
        match entry:
            case {"unknown": str(what)}:
                raise RefusedError(f"it holds {plain(what)}")
            case {"given": str(name)}:
                if name not in self._held:
                    raise UnreadableError
                tensor = self._held[name]
                if len(entry) > 1:
                    tensor.data = self._values(entry)
                    tensor.requires_grad_(entry.get("requires_grad") is True)
                return tensor
            case {"parameter": True, "requires_grad": bool(grad)}:
                return nn.Parameter(self._values(entry), requires_grad=grad)
            case {"parameter": False, "requires_grad": bool(grad)}:
                return self._values(entry).requires_grad_(grad)
            case _:
                raise UnreadableError

    def _values(self, entry: JSON) -> torch.Tensor:
        values = tensor_of(entry)
        self._bytes += values.nbytes
        if self._bytes > 2 * MOST_BYTES:
            raise RefusedError("its tensors are too large")
        return values


def _twin(module: nn.Module) -> nn.Module:
    """Another module of the same class with the same settings and, for now, the same content."""
    twin = copy.copy(module)
    for name, value in list(vars(twin).items()):
        if isinstance(value, dict | list | set):
            vars(twin)[name] = copy.copy(value)
    return twin


def _paths(module: nn.Module, known: dict[int, int]) -> int:
    """Count the paths to modules inside this one, including itself."""
    if id(module) not in known:
        # Unlike `children()`, count a module once for each path.
        known[id(module)] = 1 + sum(_paths(child, known) for child in module._modules.values() if child is not None)
    return known[id(module)]
