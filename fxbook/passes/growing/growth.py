"""A graph that grows: it picks values for a step, adds calls that fit, and stores weights.

Each node runs as it is made, on inputs of three sizes at once. So a call is kept only if it runs, preserves the number
of rows, and keeps its values small. The tensors that autograd saves are tracked, so that no step writes into what
``backward`` needs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx, nn

from fxbook.passes.growing.calls import Call
from fxbook.passes.growing.limits import Limits
from fxbook.passes.growing.values import (
    ROWS,
    StepNotApplicable,
    Value,
    clipped,
    copied,
    fits,
    metadata,
    storage,
    swapped,
)


class Step(NamedTuple):
    """What to do next, as numbers: any numbers are valid, and zeros give the simplest step.

    ``kind`` chooses the kind of step, ``call`` what is called. ``first`` and ``second`` are positions among the values
    that fit, clipped to the last one, so that a step keeps its meaning when earlier steps are removed. ``way`` chooses
    how the call is spelled.
    """

    kind: int
    call: int
    first: int
    second: int
    way: int


class Growth:
    """The graph, the module that holds its weights, and the value of each node."""

    def __init__(self, limits: Limits, seed: int) -> None:
        self.limits = limits
        self.root = nn.Module()
        self.graph = fx.Graph()
        self.values: list[Value] = []
        self.value_of: dict[fx.Node, Value] = {}
        self.pure: list[fx.Node] = []
        self.guarded: set[int] = set()
        """Storages that no step may write into."""
        self.where = "the inputs"
        self._saved: set[int] = set()
        self._kept: list[Tensor] = []
        self._calls: set[str] = set()
        self._random = torch.Generator().manual_seed(seed)

    def numbers(self, *dimensions: int) -> list[Value]:
        """The floating-point values, or only those with these numbers of dimensions."""
        return [v for v in self.values if v.is_number and (not dimensions or v.example.dim() in dimensions)]

    def number(self, place: int, *dimensions: int) -> Value:
        return clipped(self.numbers(*dimensions), place)

    def like(self, first: Value, place: int, count: int, *, exact: bool = False) -> list[Value]:
        """Values that can be combined with ``first``: they have its shape, or are expanded to it."""
        if count <= 0:
            return []
        shape = first.example.shape

        def goes(value: Value) -> bool:
            if value.example.shape == shape:
                return True
            try:
                return not exact and torch.broadcast_shapes(value.example.shape, shape) == shape
            except RuntimeError:
                return False

        fitting = [value for value in self.numbers() if goes(value)]
        return [clipped(fitting, place + more) for more in range(count)]

    def may_be_written(self, value: Value) -> bool:
        storages = {storage(one) for one in value.at}
        return not storages & (self._saved | self.guarded)

    def save(self, tensor: Tensor) -> Tensor:
        """An autograd saved-tensor hook; it keeps the tensor alive, so that no other tensor gets its address."""
        self._saved.add(storage(tensor))
        self._kept.append(tensor)
        return tensor

    def call(self, call: Call, step: Step, *, first: Value | None = None, several: bool = False) -> Value:
        first = first or self.number(step.first)
        args = (first, *self.like(first, step.second, call.tensors - 1), *call.more)
        return self.spelled(
            call.op, self.target(call, first), args, call.names, step.way, several=several, **dict(call.named)
        )

    def target(self, call: Call, first: Value) -> Any:
        """The target of the node; a module is made for the value, and stored."""
        return self.set_module(self.module_for(call, first)) if call.op == "call_module" else call.target

    def module_for(self, call: Call, first: Value) -> nn.Module:
        try:
            module = self.filled(call.target(first.example.shape))
        except Exception as error:
            raise StepNotApplicable from error
        # A module that does not run is not kept.
        for args in self.at((first,)):
            with torch.no_grad():
                _run_module(module, tuple(copied(args)), {})
        return module

    def spelled(
        self,
        op: str,
        target: Any,
        args: tuple[Any, ...],
        names: tuple[str, ...],
        way: int,
        *,
        several: bool = False,
        below: int = 0,
        **named: Any,
    ) -> Value:
        if self.limits.kwargs and len(names) == len(args) and way % 2:
            # Either all but the first are passed by name, or all that have a name.
            start = 1 if way % 4 == 1 and len(args) > 1 else sum(name == "" for name in names)
            named = dict(zip(names[start:], args[start:], strict=True)) | named
            args = args[:start]
        return self.add(op, target, args, named, several=several, below=below)

    def function(self, target: Any, *args: Any, among: bool = True, below: int = 0, **kwargs: Any) -> Value:
        return self.add("call_function", target, args, kwargs, among=among, below=below)

    def method(self, name: str, *args: Any, among: bool = True, below: int = 0, **kwargs: Any) -> Value:
        return self.add("call_method", name, args, kwargs, among=among, below=below)

    def add(
        self,
        op: str,
        target: Any,
        args: Any,
        kwargs: dict[str, Any],
        *,
        among: bool = True,
        several: bool = False,
        below: int = 0,
        wanted: bool = False,
    ) -> Value:
        """Run a call at each size, and add its node if it fits. Later steps may use its value if ``among`` is true.

        If ``wanted`` is true, the call may be of a kind that is switched off.
        """
        nodes = swapped((args, kwargs), Value, lambda value: value.node)
        written = repr((op, target, nodes))
        if not (wanted or self.limits.allow(op, kwargs)) or (written in self._calls and not self.limits.repeats):
            raise StepNotApplicable
        at = tuple(
            self.run(op, target, own_args, own_kwargs)
            for own_args, own_kwargs in zip(self.at(args), self.at(kwargs), strict=True)
        )
        if among and not several:
            fits(at, self.limits.dtype)
        if not (wanted or all(map(self.limits.allow_result, self.at((args, kwargs)), at))):
            raise StepNotApplicable
        self._calls.add(written)
        value = self.keep(self.graph.create_node(op, target, *nodes), at, among=among and not several, below=below)
        self.pure.append(value.node)
        return value

    def run(self, op: str, target: Any, args: Any, kwargs: Any) -> Any:
        """Run one call, with values in place of nodes; raises StepNotApplicable if the call raises."""
        if op == "call_module":
            return _run_module(self.root.get_submodule(target), args, kwargs)
        try:
            if op == "call_method":
                return getattr(args[0], target)(*args[1:], **kwargs)
            return target(*args, **kwargs)
        except Exception as error:
            raise StepNotApplicable from error

    def at(self, arguments: Any) -> tuple[Any, ...]:
        return tuple(swapped(arguments, Value, lambda value, i=i: value.at[i]) for i in range(len(ROWS)))

    def keep(self, node: fx.Node, at: tuple[Any, ...], *, among: bool = True, below: int = 0) -> Value:
        value = self.value_of[node] = Value(node, at, below)
        told = at[0]
        if isinstance(told, Tensor):
            node.meta["tensor_meta"] = metadata(told)
        elif isinstance(told, tuple | list) and any(isinstance(part, Tensor) for part in told):
            node.meta["tensor_meta"] = tuple(metadata(part) if isinstance(part, Tensor) else part for part in told)
        node.meta["stack_trace"] = f'File "random graph", {self.where}'
        if among:
            self.values.append(value)
        return value

    def drawn(self, *shape: int) -> Tensor:
        return torch.rand(shape, generator=self._random, dtype=self.limits.dtype) * 2 - 1

    def whole(self, below: int, *shape: int) -> Tensor:
        return torch.randint(below, shape, generator=self._random)

    def filled(self, module: nn.Module) -> nn.Module:
        module = module.to(self.limits.dtype)
        with torch.no_grad():
            for name, held in (*module.named_parameters(), *module.named_buffers()):
                if held.is_floating_point():
                    drawn = self.drawn(*held.shape)
                    held.copy_(drawn.abs() + 0.5 if name.endswith("running_var") else drawn)
        return module

    def made(self) -> Iterator[tuple[str, nn.Module]]:
        seen: dict[str, nn.Module] = {}
        for node in self.graph.nodes:
            if node.op == "call_module":
                seen.setdefault(node.target, self.root.get_submodule(node.target))
        yield from seen.items()

    def set_module(self, module: nn.Module, path: str = "") -> str:
        if not path:
            kind, known = type(module).__name__.lower(), sum(1 for _ in self.made())
            path = f"{kind}_{known}" if known % 3 else f"block_{known}.{kind}"
        *parents, name = path.split(".")
        self._below(parents).add_module(name, module)
        return path

    def stored(self, path: str, tensor: Tensor) -> Value:
        """A new node that fetches a parameter or a buffer, which is stored unless the path exists."""
        *parents, name = path.split(".")
        below = self._below(parents)
        if not hasattr(below, name):
            register = below.register_parameter if isinstance(tensor, nn.Parameter) else below.register_buffer
            register(name, tensor)
            self.guarded.add(storage(tensor))
        held = getattr(below, name)
        return self.keep(self.graph.get_attr(path), (held,) * len(ROWS), among=False)

    def _below(self, parents: Sequence[str]) -> nn.Module:
        return functools.reduce(_child, parents, self.root)


def _child(parent: nn.Module, name: str) -> nn.Module:
    if not hasattr(parent, name):
        parent.add_module(name, nn.Module())
    return getattr(parent, name)


def _run_module(module: nn.Module, args: Any, kwargs: Any) -> Any:
    try:
        return module.eval()(*args, **kwargs)
    except Exception as error:
        raise StepNotApplicable from error
