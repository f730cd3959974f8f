"""What a user may switch off, or add, in random graphs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import torch

from fxbook.passes.growing.calls import Call, called
from fxbook.passes.growing.values import storage, tensors

Given = Callable[..., Any] | tuple[Any, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """The size of a random graph, and what it may contain.

    A graph contains nothing that is switched off, except in calls that ``functions`` or ``also`` adds. With
    ``dialect="aten"``, this is true of the graph that is given to ``torch.export``.

    Args:
        steps: the maximum number of steps; a step adds one node, or a few that belong together.
        inputs: the maximum number of placeholders.
        dtype: a floating-point dtype, for inputs, parameters and buffers.
        in_place: calls that write into a value, but never into an input, a weight, or a value that ``backward`` needs.
        modules: ``call_module``, including a module that is called twice, is at two paths, or shares its weight.
        methods: ``call_method``.
        attributes: ``get_attr`` of parameters and buffers.
        kwargs: arguments by name.
        views: calls that return a view of a value, such as a slice.
        tuples: calls that take or return a tuple or a list of tensors, and the ``getitem`` for them.
        sizes: sizes that the graph takes from a tensor.
        masks: boolean inputs, comparisons, and calls that use them.
        images: inputs with four dimensions, one- and two-dimensional convolutions with their norms, and pooling.
        integers: integer inputs, computed integers, embeddings and other uses of them.
        attention: attention in one call, as a module, and written out.
        repeats: calls that the graph already contains.
        dead_code: calls and ``get_attr`` that the output does not need.
        several_outputs: an output that is not a single node.
        train: the mode of the modules.
        dialect: ``"torch"``, or ``"aten"`` for the graph that ``torch.export`` makes from it: ATen operators, a fake
            tensor in each node's ``meta["val"]``, and weights fetched by ``get_attr``. This takes fifty times as long.
        functions: only these functions, in the form of :data:`also`.
        also: further functions: a function of one tensor, a pair of a function and how many tensors it takes, or a
            triple with the opcode first; the target of ``"call_module"`` makes a module for a number of features.
    """

    steps: int = 10
    inputs: int = 2
    dtype: torch.dtype = torch.float64
    in_place: bool = True
    modules: bool = True
    methods: bool = True
    attributes: bool = True
    kwargs: bool = True
    views: bool = True
    tuples: bool = True
    sizes: bool = True
    masks: bool = True
    images: bool = True
    integers: bool = True
    attention: bool = True
    repeats: bool = True
    dead_code: bool = True
    several_outputs: bool = True
    train: bool = False
    dialect: Literal["torch", "aten"] = "torch"
    functions: Sequence[Given] | None = None
    also: Sequence[Given] = ()

    def __post_init__(self) -> None:
        if self.steps < 1 or self.inputs < 1:
            raise ValueError(f"a graph needs at least one step and one input, not {self.steps} and {self.inputs}")
        if not self.dtype.is_floating_point:
            raise ValueError(f"dtype is {self.dtype}: weights and gradients need floating point, such as torch.float64")
        if self.dialect not in ("torch", "aten"):
            raise ValueError(f'dialect is {self.dialect!r}: choose "torch" or "aten"')
        self.added  # noqa: B018 (reports a wrong form here, not when the first graph is made)

    def allow(self, op: str, kwargs: Mapping[str, Any]) -> bool:
        """Whether a call may have this opcode and these keyword arguments."""
        return {"call_method": self.methods, "call_module": self.modules}.get(op, True) and (self.kwargs or not kwargs)

    def allow_result(self, arguments: Any, result: Any) -> bool:
        """Whether a call may return this: not if it has integers, or a view of an argument, that are switched off."""
        given, returned = tensors(arguments), tensors(result)
        new = [one for one in returned if not any(one is other for other in given)]
        return (self.views or {*map(storage, given)}.isdisjoint(map(storage, new))) and (
            self.integers or all(one.is_floating_point() or one.dtype == torch.bool for one in returned)
        )

    @property
    def added(self) -> tuple[Call, ...]:
        return tuple(called(given) for given in (*(self.functions or ()), *self.also))
