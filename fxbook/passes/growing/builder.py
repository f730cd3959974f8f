"""Make a graph of a list of steps: any list gives a valid graph, for what cannot be done is left out.

Each node is run as it is made, on inputs of three sizes at once. So a call is kept only if it runs, if the number of
rows goes through it, and if its numbers stay small. What autograd saves is watched, so that no step writes into what
``backward`` needs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx, nn
from torch.fx.passes.shape_prop import TensorMetadata

from fxbook.passes.growing import calls
from fxbook.passes.growing.calls import Call
from fxbook.passes.growing.limits import Limits

ROWS = (3, 5, 1)
"""The numbers of rows that each node is run at; ``meta`` tells of the first. One row makes more values contiguous."""
FEATURES = 4
_MOST_ELEMENTS, _LARGEST, _MOST_DIMENSIONS = 400, 1e3, 4
_NAMES = ("x", "y", "z")


class Step(NamedTuple):
    """What to do next, as numbers: any numbers mean something, and zeros mean the simplest.

    ``kind`` chooses the kind of step, ``call`` what is called. ``first`` and ``second`` choose values by their place
    among those that fit, the last one where there are fewer, so that a step means the same when others before it are
    taken out. ``way`` chooses the spelling.
    """

    kind: int
    call: int
    first: int
    second: int
    way: int


class StepNotApplicable(Exception):  # noqa: N818 (not an error: the step is left out)
    """A step that cannot be done here."""


@dataclasses.dataclass(eq=False)
class _Value:
    """A node and what it computed at each size."""

    node: fx.Node
    at: tuple[Any, ...]

    @property
    def example(self) -> Tensor:
        return self.at[0]

    @property
    def is_number(self) -> bool:
        """Whether it holds floating numbers, rather than truth values."""
        return isinstance(self.example, Tensor) and self.example.is_floating_point()


class Builder:
    """A graph while it grows."""

    def __init__(self, limits: Limits, inputs: int, seed: int = 0) -> None:
        """Begin with the placeholders; ``seed`` decides the weights."""
        self.limits = limits
        self.root = nn.Module()
        self.graph = fx.Graph()
        self.values: list[_Value] = []
        self._saved: set[int] = set()
        self._kept: list[Tensor] = []
        self._stored: set[str] = set()
        self._value_of: dict[fx.Node, _Value] = {}
        self._guarded: set[int] = set()
        self._pure: list[fx.Node] = []
        self._random = torch.Generator().manual_seed(seed)
        self._step = 0
        # Only those that a call may be taken from.
        self._kinds = tuple(self._offered())
        for name in _NAMES[:inputs] if inputs <= len(_NAMES) else [f"input_{i}" for i in range(inputs)]:
            at = tuple(self._drawn(rows, FEATURES).requires_grad_() for rows in ROWS)
            self._keep(self.graph.placeholder(name), at)
            self._guarded |= {_storage(value) for value in at}

    def _offered(self) -> Iterator[Callable[[Step], None]]:
        """The kinds of steps, those that are wanted often more than once."""
        limits = self.limits
        if limits.functions is not None:
            yield self._own
            return
        yield from [self._function] * 4
        yield from [self._number] * 2
        yield from [self._module] * 3 * limits.modules
        yield from [self._method] * 2 * limits.methods
        yield from [self._in_place] * 3 * limits.in_place
        yield from [self._attribute] * 2 * limits.attributes
        yield from [self._tuple] * 2 * limits.tuples
        yield from [self._view] * 2 * limits.views
        yield from [self._repeat] * limits.repeats
        yield from [self._mask] * limits.masks
        yield from [self._size] * limits.sizes
        yield from [self._own] * 4 * bool(limits.also)

    def grow(self, steps: Sequence[Step], shape: int = 0) -> fx.GraphModule:
        """Do the steps, end with an output, and compile; ``shape`` chooses the form of the output."""
        with torch.autograd.graph.saved_tensors_hooks(self._save, lambda saved: saved), torch.enable_grad():
            for step in steps:
                self._step += 1
                with contextlib.suppress(StepNotApplicable):
                    self._kinds[step.kind % len(self._kinds)](step)
        self._output(shape)
        if not self.limits.dead_code:
            self._sweep()
        # Afterwards: GraphModule makes modules of its own for nested paths, in training mode.
        return fx.GraphModule(self.root, self.graph, "RandomGraph").train(self.limits.train)

    # ---- kinds of steps ----------------------------------------------------------------------------------------------

    def _own(self, step: Step) -> None:
        added = self.limits.added
        self._call(added[step.call % len(added)], step)

    def _function(self, step: Step) -> None:
        self._call(_one_of(calls.FUNCTIONS, step.call), step)

    def _method(self, step: Step) -> None:
        self._call(_one_of(calls.METHODS, step.call), step)

    def _view(self, step: Step) -> None:
        self._call(_one_of(calls.VIEWS, step.call), step)

    def _number(self, step: Step) -> None:
        """A tensor and a number: ``x + 0``, ``x * 1``, ``2 - x``."""
        number = _one_of(calls.NUMBERS, step.second)
        if step.call % 5 == 4:
            target = _one_of(calls.NUMBER_FIRST, step.call // 5)
            self._add("call_function", target, (number, self._number_like(step.first)), {})
            return
        call = _one_of(calls.WITH_NUMBER, step.call)
        names = (*call.names, "other") if call.names else ()
        self._call(dataclasses.replace(call, more=(number,), names=names), step)

    def _module(self, step: Step) -> None:
        """A module: a new one, one called before, one at a second path, or one that shares a weight."""
        known = [(path, module) for path, module in self._made() if not getattr(module, "inplace", False)]
        manner = step.way // 2 % 4
        if known and manner:
            path, module = known[min(step.call, len(known) - 1)]
            if manner == 2:
                path = self._set(f"also_{len(known)}", module)
            elif manner == 3 and isinstance(module, nn.Linear):
                tied = self._filled(nn.Linear(module.in_features, module.out_features))
                tied.weight = module.weight
                path = self._set(f"tied_{len(known)}", tied)
            self._spelled("call_module", path, (self._number_like(step.first),), ("input",), step.way)
        else:
            self._call(_one_of(calls.MODULES, step.call), step)

    def _in_place(self, step: Step) -> None:
        """A call that writes into its first tensor; afterwards its node stands for that tensor, or the node before."""
        call = _one_of(calls.IN_PLACE, step.call)
        free = [value for value in self._numbers() if self._may_be_written(value)]
        if not free:
            raise StepNotApplicable
        into = _clipped(free, step.first)
        others = self._like(into, step.second, call.tensors - 1)
        with torch.no_grad():
            trial = tuple(_copied(args) for args in self._at((into, *others)))
            # What a call would write is looked at before it writes.
            if call.op != "call_module":
                for args in trial:
                    _small(self._run(call.op, call.target, (*args, *call.more), dict(call.named)))
        self._spelled(
            call.op, self._target(call, into), (into, *others, *call.more), call.names, step.way, **dict(call.named)
        )
        self._pure.remove(self.values[-1].node)

    def _attribute(self, step: Step) -> None:
        """A parameter or a buffer, and a sum or a product with it."""
        value = self._number_like(step.first)
        width = value.example.shape[-1]
        path = _one_of(("scale", "shift", "block.scale", "offset"), step.second)
        path = f"{path}_{width}" if width != FEATURES else path
        if path not in self._stored:
            drawn = self._drawn(width)
            is_buffer = path.startswith(("shift", "offset"))
            stored = drawn if is_buffer else nn.Parameter(drawn)
            self._put(path, stored)
            self._stored.add(path)
            self._guarded.add(_storage(stored))
        fetched = self._fetch(path)
        target = _one_of((operator.mul, operator.add, torch.mul, torch.sub), step.call)
        self._add("call_function", target, (value, fetched), {})

    def _tuple(self, step: Step) -> None:
        """Several values from one with ``getitem``, or one from several."""
        if step.call % 2:
            call = _one_of(calls.PACKED, step.call // 2)
            first = self._number_like(step.first)
            packed = [first, *self._like(first, step.second, call.tensors - 1, exact=True)]
            into = tuple(packed) if step.way % 2 else packed
            self._spelled(call.op, call.target, (into, *call.more), call.names, step.way // 2, **dict(call.named))
            return
        call = _one_of(calls.UNPACKED, step.call // 2)
        whole = self._call(call, step, several=True)
        # torch refuses to differentiate through a write into one of several views.
        self._guarded |= {_storage(part) for parts in whole.at for part in parts}
        count = 1 if call.target in (torch.max,) else min(len(part) for part in whole.at)
        for item in range(min(count, 1 + step.second % 2)):
            self._add("call_function", operator.getitem, (whole, item), {})

    def _mask(self, step: Step) -> None:
        """A comparison with zero, and what is done with the mask."""
        value = self._number_like(step.first)
        mask = self._add("call_function", operator.gt, (value, 0), {}, among=False)
        if step.call % 3 == 0:
            (other,) = self._like(value, step.second, 1, exact=True)
            self._add("call_function", torch.where, (mask, value, other), {})
        elif step.call % 3 == 1:
            self._add("call_method", "masked_fill", (value, mask, 0.5), {})
        else:
            self._add("call_method", "to", (mask, self.limits.dtype), {})

    def _size(self, step: Step) -> None:
        """The number of rows, asked of one value and used for another."""
        value = self._number_like(step.first)
        if step.call % 2:
            shape = self._add("call_function", getattr, (value, "shape"), {}, among=False)
            rows = self._add("call_function", operator.getitem, (shape, 0), {}, among=False)
        else:
            rows = self._add("call_method", "size", (value, 0), {}, among=False)
        other = self._number_like(step.second)
        self._add("call_method", "reshape" if step.way % 2 else "view", (other, rows, -1), {})

    def _repeat(self, step: Step) -> None:
        """A call that is in the graph already, written once more."""
        known = [value for value in self.values if value.node in self._pure and value.is_number]
        if not known:
            raise StepNotApplicable
        twin = _clipped(known, step.first).node
        args, kwargs = _swapped((twin.args, twin.kwargs), fx.Node, self._value_of.__getitem__)
        self._add(twin.op, twin.target, args, kwargs)

    # ---- calls -------------------------------------------------------------------------------------------------------

    def _call(self, call: Call, step: Step, *, several: bool = False) -> _Value:
        first = self._number_like(step.first)
        args = (first, *self._like(first, step.second, call.tensors - 1), *call.more)
        target = self._target(call, first)
        return self._spelled(call.op, target, args, call.names, step.way, several=several, **dict(call.named))

    def _target(self, call: Call, first: _Value) -> Any:
        if call.op != "call_module":
            return call.target
        try:
            module = self._filled(call.target(first.example.shape[-1]))
        except Exception as error:
            raise StepNotApplicable from error
        # A module that does not run here is not kept.
        for args in self._at((first,)):
            with torch.no_grad():
                self._run_module(module, tuple(_copied(args)), {})
        kind = type(module).__name__.lower()
        paths = [path for path, _ in self._made()]
        return self._set(f"{kind}_{len(paths)}" if len(paths) % 3 else f"block_{len(paths)}.{kind}", module)

    def _spelled(
        self,
        op: str,
        target: Any,
        args: tuple[Any, ...],
        names: tuple[str, ...],
        way: int,
        *,
        several: bool = False,
        **named: Any,
    ) -> _Value:
        """Add a call with some of its arguments by name, as ``way`` says."""
        if self.limits.kwargs and len(names) == len(args) and way % 2:
            # All but the first, or all of them; what has no name goes by position.
            start = 1 if way % 4 == 1 and len(args) > 1 else sum(name == "" for name in names)
            named = dict(zip(names[start:], args[start:], strict=True)) | named
            args = args[:start]
        return self._add(op, target, args, named, several=several)

    def _add(
        self, op: str, target: Any, args: Any, kwargs: dict[str, Any], *, among: bool = True, several: bool = False
    ) -> _Value:
        """Run a call at each size, and make its node if it fits; ``among``: a later step may use its value."""
        at = tuple(
            self._run(op, target, own_args, own_kwargs)
            for own_args, own_kwargs in zip(self._at(args), self._at(kwargs), strict=True)
        )
        if among and not several:
            self._fits(*at)
        nodes = _swapped((args, kwargs), _Value, lambda value: value.node)
        node = self.graph.create_node(op, target, *nodes)
        value = self._keep(node, at, among=among and not several)
        self._pure.append(node)
        return value

    def _run(self, op: str, target: Any, args: Any, kwargs: Any) -> Any:
        if op == "call_module":
            return self._run_module(self.root.get_submodule(target), args, kwargs)
        try:
            if op == "call_method":
                return getattr(args[0], target)(*args[1:], **kwargs)
            return target(*args, **kwargs)
        except Exception as error:
            raise StepNotApplicable from error

    def _run_module(self, module: nn.Module, args: Any, kwargs: Any) -> Any:
        try:
            return module.eval()(*args, **kwargs)
        except Exception as error:
            raise StepNotApplicable from error

    def _fits(self, *at: Any) -> None:
        """Refuse a result that is no tensor of few, small numbers with a row for each row of the input."""
        for value, rows in zip(at, ROWS, strict=True):
            if not isinstance(value, Tensor) or not 1 <= value.dim() <= _MOST_DIMENSIONS:
                raise StepNotApplicable
            if value.shape[0] != rows or not 0 < value.numel() <= _MOST_ELEMENTS:
                raise StepNotApplicable
        first = at[0]
        if any(value.shape[1:] != first.shape[1:] or value.dtype != first.dtype for value in at):
            raise StepNotApplicable
        if first.is_floating_point():
            if first.dtype != self.limits.dtype:
                raise StepNotApplicable
            for value in at:
                _small(value)

    # ---- values ------------------------------------------------------------------------------------------------------

    def _numbers(self) -> list[_Value]:
        return [value for value in self.values if value.is_number]

    def _number_like(self, place: int) -> _Value:
        return _clipped(self._numbers(), place)

    def _like(self, first: _Value, place: int, count: int, *, exact: bool = False) -> list[_Value]:
        """So many values that go with one: of its shape, or a shape that is stretched to it."""
        if count <= 0:
            return []
        shape = first.example.shape

        def goes(value: _Value) -> bool:
            if value.example.shape == shape:
                return True
            try:
                return not exact and torch.broadcast_shapes(value.example.shape, shape) == shape
            except RuntimeError:
                return False

        fitting = [value for value in self._numbers() if goes(value)]
        return [_clipped(fitting, place + more) for more in range(count)]

    def _at(self, arguments: Any) -> tuple[Any, ...]:
        """The arguments with the values that the nodes have at each size."""
        return tuple(_swapped(arguments, _Value, lambda value, i=i: value.at[i]) for i in range(len(ROWS)))

    def _may_be_written(self, value: _Value) -> bool:
        storages = {_storage(one) for one in value.at}
        return not storages & (self._saved | self._guarded)

    def _save(self, tensor: Tensor) -> Tensor:
        """Called by autograd with each tensor that it saves; kept, so that no other gets its address."""
        self._saved.add(_storage(tensor))
        self._kept.append(tensor)
        return tensor

    def _keep(self, node: fx.Node, at: tuple[Any, ...], *, among: bool = True) -> _Value:
        value = self._value_of[node] = _Value(node, at)
        told = at[0]
        if isinstance(told, Tensor):
            node.meta["tensor_meta"] = metadata(told)
        elif isinstance(told, tuple | list) and all(isinstance(part, Tensor) for part in told):
            node.meta["tensor_meta"] = tuple(map(metadata, told))
        where = f"step {self._step}" if self._step else "the inputs"
        node.meta["stack_trace"] = f'File "random graph", {where}'
        if among:
            self.values.append(value)
        return value

    # ---- what is stored ----------------------------------------------------------------------------------------------

    def _drawn(self, *shape: int) -> Tensor:
        return torch.rand(shape, generator=self._random, dtype=self.limits.dtype) * 2 - 1

    def _filled(self, module: nn.Module) -> nn.Module:
        """The module with weights drawn by the seed of the graph, whatever it was made with."""
        module = module.to(self.limits.dtype)
        with torch.no_grad():
            for name, held in (*module.named_parameters(), *module.named_buffers()):
                if held.is_floating_point():
                    drawn = self._drawn(*held.shape)
                    held.copy_(drawn.abs() + 0.5 if name.endswith("running_var") else drawn)
        return module

    def _made(self) -> Iterator[tuple[str, nn.Module]]:
        """Every module that a node calls, with its path, in the order in which they were made."""
        seen: dict[str, nn.Module] = {}
        for node in self.graph.nodes:
            if node.op == "call_module":
                seen.setdefault(node.target, self.root.get_submodule(node.target))
        yield from seen.items()

    def _set(self, path: str, module: nn.Module) -> str:
        *parents, name = path.split(".")
        self._below(parents).add_module(name, module)
        return path

    def _put(self, path: str, stored: Tensor) -> None:
        *parents, name = path.split(".")
        below = self._below(parents)
        if isinstance(stored, nn.Parameter):
            below.register_parameter(name, stored)
        else:
            below.register_buffer(name, stored)

    def _below(self, parents: Sequence[str]) -> nn.Module:
        below = self.root
        for parent in parents:
            if not hasattr(below, parent):
                below.add_module(parent, nn.Module())
            below = getattr(below, parent)
        return below

    def _fetch(self, path: str) -> _Value:
        """A new node that fetches what is stored there."""
        stored = functools.reduce(getattr, path.split("."), self.root)
        return self._keep(self.graph.get_attr(path), (stored,) * len(ROWS), among=False)

    # ---- the end -----------------------------------------------------------------------------------------------------

    def _output(self, shape: int) -> None:
        numbers = self._numbers()
        last, middle, first = numbers[-1].node, numbers[len(numbers) // 2].node, numbers[0].node
        forms = (
            last,
            (last, middle),
            {"last": last, "middle": middle},
            [last, first],
            (last, last),
            {"pair": (last, middle), "list": [first]},
            (last, None, 2),
            (last,),
        )
        result = forms[shape % len(forms)] if self.limits.several_outputs else last
        self.graph.output(result)

    def _sweep(self) -> None:
        """Take out what nothing needs."""
        pure = set(self._pure)
        for node in reversed(list(self.graph.nodes)):
            if not node.users and (node in pure or node.op == "get_attr"):
                self.graph.erase_node(node)


def metadata(tensor: Tensor) -> TensorMetadata:
    """What ``ShapeProp`` tells of a tensor."""
    contiguous = torch.contiguous_format if tensor.is_contiguous() else None
    return TensorMetadata(
        tensor.shape, tensor.dtype, tensor.requires_grad, tensor.stride(), contiguous, tensor.is_quantized, {}
    )


def _small(value: Tensor) -> None:
    """Refuse large numbers, and what is no number."""
    with torch.no_grad():
        if not bool(value.abs().max() <= _LARGEST):
            raise StepNotApplicable


def _one_of(table: Sequence[Any], number: int) -> Any:
    return table[number % len(table)]


def _clipped(values: Sequence[_Value], place: int) -> _Value:
    return values[min(place, len(values) - 1)]


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage()._cdata


def _copied(args: Sequence[Any]) -> list[Any]:
    return [arg.detach().clone() if isinstance(arg, Tensor) else arg for arg in args]


def _swapped(value: Any, kind: type, swap: Callable[[Any], Any]) -> Any:
    """The arguments with each object of a kind, however deep, replaced."""
    if isinstance(value, kind):
        return swap(value)
    match value:
        case tuple():
            return tuple(_swapped(item, kind, swap) for item in value)
        case list():
            return [_swapped(item, kind, swap) for item in value]
        case dict():
            return {key: _swapped(item, kind, swap) for key, item in value.items()}
    return value
