"""A module's positional and keyword inputs, as real tensors."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils import _pytree as pytree

from fxbook.passes.growing.inputs import real


class Inputs(tuple[Any, ...]):
    """Positional inputs, with keyword inputs in ``kwargs``; both form one pytree, and ``copy.deepcopy`` copies both."""

    kwargs: dict[str, Any]

    def __new__(cls, inputs: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Inputs:
        made = super().__new__(cls, inputs)
        made.kwargs = dict(kwargs or {})
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Inputs:
        for leaf in pytree.tree_leaves(self):
            # torch cannot deep-copy these: they have no storage, or have an autograd history.
            if isinstance(leaf, Tensor) and (leaf.is_nested or leaf.layout != torch.strided or not leaf.is_leaf):
                memo[id(leaf)] = leaf.detach().clone().requires_grad_(leaf.requires_grad)
        return Inputs(copy.deepcopy(tuple(self), memo), copy.deepcopy(self.kwargs, memo))


pytree.register_pytree_node(
    Inputs,
    lambda inputs: ([tuple(inputs), inputs.kwargs], None),
    lambda parts, _: Inputs(*parts),
)


def call(module: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    return module(*inputs, **getattr(inputs, "kwargs", {}))


def ordered(module: fx.GraphModule, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The inputs in placeholder order, since ``fx.Interpreter.run`` accepts no keyword inputs."""
    kwargs = getattr(inputs, "kwargs", {})
    if not kwargs:
        return tuple(inputs)
    # A lazy module knows its signature once it is compiled.
    assert module.code
    bound = inspect.signature(module.forward).bind(*inputs, **kwargs)
    bound.apply_defaults()
    return (*bound.args, *bound.kwargs.values())


def checked(inputs: Any, kwargs: Any = None, called: str = "inputs") -> Inputs:
    """The inputs as :class:`Inputs` of real tensors.

    Raises:
        TypeError: they are not a sequence, or are a tensor, which would be split into its rows.
    """
    if isinstance(inputs, Tensor):
        raise TypeError(f"`{called}` is a tensor: pass a tuple of all inputs, such as (x,)")
    if isinstance(inputs, str | Mapping) or not isinstance(inputs, Sequence):
        raise TypeError(f"`{called}` is of type {type(inputs).__name__}: pass a tuple of all inputs, such as (x,)")
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise TypeError(f"`kwargs` is of type {type(kwargs).__name__}: pass a dict of the inputs by name")
    return real(inputs if isinstance(inputs, Inputs) else Inputs(inputs, kwargs))


def shapes(inputs: Any) -> str:
    leaves = pytree.tree_leaves(inputs)
    told = [
        str(tuple(leaf.shape)) if isinstance(leaf, Tensor) and not leaf.is_nested else repr(leaf) for leaf in leaves
    ]
    return ", ".join(one if len(one) < 40 else f"{one[:39]}…" for one in told) or "none"
