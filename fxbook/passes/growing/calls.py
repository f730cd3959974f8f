"""Tables of what the nodes of a random graph may call; a failing example shrinks to the first entry of each table."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import nn

functional = nn.functional
Opcode = Literal["call_function", "call_method", "call_module"]


@dataclasses.dataclass(frozen=True)
class Call:
    """Something to call.

    ``target`` is a function, a method name, or a function that makes a module for the shape of its input. ``tensors``
    is the number of tensors it takes, ``more`` holds the arguments after them, and ``named`` those that are always
    passed by name. ``names`` holds the names of all arguments; it is empty if they cannot be passed by name.
    """

    op: Opcode
    target: Any
    tensors: int = 1
    more: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()
    names: tuple[str, ...] = ()


def called(given: Callable[..., Any] | tuple[Any, ...]) -> Call:
    """A user's entry as a call: a function, ``(function, tensors)`` or ``(opcode, target, tensors)``.

    Raises:
        TypeError: the entry has none of these forms.
    """
    match given:
        case ("call_module", make, int(tensors)) if callable(make):
            return Call("call_module", lambda shape: make(shape[-1]), tensors)
        case ("call_function" | "call_method" as op, target, int(tensors)):
            return Call(op, target, tensors)
        case (target, int(tensors)) if callable(target):
            return Call("call_function", target, tensors)
        case _ if callable(given):
            return Call("call_function", given)
    raise TypeError(
        f"{given!r} cannot be called: give a function of one tensor, (torch.add, 2) for a function of two, "
        'or an opcode, a target and the number of tensors: ("call_method", "tanh", 1)'
    )


def _function(target: Any, *names: str, more: tuple[Any, ...] = (), **named: Any) -> Call:
    """A function whose arguments all have names: first those of its tensors, then those of ``more``."""
    return Call("call_function", target, len(names) - len(more), more, tuple(named.items()), names)


def _operator(target: Any, tensors: int = 2, *more: Any) -> Call:
    return Call("call_function", target, tensors, more)


def _method(name: str, *more: Any, tensors: int = 1, names: tuple[str, ...] = (), **named: Any) -> Call:
    """A method; ``names`` are those of its arguments after the tensor itself."""
    return Call("call_method", name, tensors, more, tuple(named.items()), ("", *names) if names else ())


def _module(make: Callable[[torch.Size], nn.Module]) -> Call:
    return Call("call_module", make, names=("input",))


def _for_images(kind: str, *settings: Any, **more: Any) -> Call:
    """A layer that exists in one, two and three dimensions, such as ``nn.MaxPool2d``."""
    return _module(lambda shape: getattr(nn, f"{kind}{len(shape) - 2}d")(*settings, **more))


def _convolution(kind: str, *settings: Any, out: int = 0, **more: Any) -> Call:
    """A convolution that keeps the number of channels unless ``out`` sets it."""
    return _module(lambda shape: getattr(nn, f"{kind}{len(shape) - 2}d")(shape[1], out or shape[1], *settings, **more))


def _batch_norm(**settings: Any) -> Call:
    return _module(lambda shape: getattr(nn, f"BatchNorm{max(len(shape) - 2, 1)}d")(shape[1], **settings))


def _convolution_block(shape: torch.Size) -> nn.Module:
    """A convolution with its norm and ReLU in a module, as in real models."""
    layers = _convolution("Conv", 3, padding=1, bias=False), _batch_norm()
    return nn.Sequential(*(layer.target(shape) for layer in layers), nn.ReLU())


FUNCTIONS = (
    _function(torch.relu, "input"),
    _function(torch.add, "input", "other"),
    _operator(operator.add),
    _function(torch.tanh, "input"),
    _operator(operator.mul),
    _function(torch.mul, "input", "other"),
    _operator(operator.sub),
    _function(torch.sigmoid, "input"),
    _operator(operator.neg, 1),
    _function(torch.sub, "input", "other", alpha=2),
    _function(torch.add, "input", "other", alpha=0.5),
    _function(torch.maximum, "input", "other"),
    _function(torch.sin, "input"),
    _function(torch.abs, "input"),
    _function(functional.relu, "input"),
    _function(functional.gelu, "input"),
    _function(functional.leaky_relu, "input", "negative_slope", more=(0.1,)),
    _function(functional.hardtanh, "input", "min_val", "max_val", more=(-0.5, 0.5)),
    _function(torch.clamp, "input", min=-1.0, max=0.5),
    _function(torch.softmax, "input", "dim", more=(-1,)),
    _function(torch.exp, "input"),
    _function(torch.mean, "input", dim=-1, keepdim=True),
    _function(torch.sum, "input", dim=-1, keepdim=True),
    _function(functional.normalize, "input"),
    _operator(operator.pow, 1, 2),
    _function(torch.pow, "input", "exponent", more=(2,)),
)
METHODS = (
    _method("relu"),
    _method("tanh"),
    _method("add", tensors=2, names=("other",)),
    _method("mul", tensors=2, names=("other",)),
    _method("sub", tensors=2, names=("other",)),
    _method("neg"),
    _method("sigmoid"),
    _method("clone"),
    _method("contiguous"),
    _method("detach"),
    _method("clamp", -0.5, 0.5, names=("min", "max")),
    _method("sum", -1, True, names=("dim", "keepdim")),
    _method("mean", dim=-1, keepdim=True),
    _method("amax", -1, True, names=("dim", "keepdim")),
    _method("softmax", -1, names=("dim",)),
    _method("__add__", tensors=2),
)
NUMBERS = (0, 1, 2, 0.5, -1, 1.0, 0.0, 3)
# These take a number as the second argument.
WITH_NUMBER = (
    _operator(operator.add, 1),
    _operator(operator.mul, 1),
    _function(torch.add, "input"),
    _function(torch.mul, "input"),
    _operator(operator.sub, 1),
    _method("add"),
    _method("mul"),
    _method("sub"),
    _operator(operator.truediv, 1),
    _function(torch.sub, "input"),
    _function(torch.div, "input"),
)
# These take a number as the first argument.
NUMBER_FIRST = (operator.add, operator.mul, operator.sub)
IN_PLACE = (
    _method("add_", tensors=2, names=("other",)),
    _method("mul_", 2, names=("other",)),
    _method("relu_"),
    _operator(operator.iadd, 2),
    _function(torch.relu_, "input"),
    _method("sub_", tensors=2, names=("other",)),
    _operator(operator.imul, 1, 0.5),
    _method("tanh_"),
    _function(functional.relu, "input", inplace=True),
    _method("neg_"),
    _method("add_", 1, names=("other",)),
    _method("zero_"),
    _method("copy_", tensors=2),
    _function(torch.sigmoid_, "input"),
    Call("call_module", lambda features: nn.ReLU(inplace=True), names=("input",)),
    _method("clamp_", -0.5, 0.5, names=("min", "max")),
)
MODULES = (
    _module(lambda shape: nn.Linear(shape[-1], shape[-1])),
    _module(lambda shape: nn.ReLU()),
    _module(lambda shape: nn.Linear(shape[-1], shape[-1], bias=False)),
    _module(lambda shape: nn.LayerNorm(shape[-1])),
    _batch_norm(),
    _module(lambda shape: nn.Linear(shape[-1], 3)),
    _module(lambda shape: nn.Dropout(0.0)),
    _module(lambda shape: nn.Identity()),
    _module(lambda shape: nn.Sequential(nn.Linear(shape[-1], shape[-1]), nn.Tanh())),
    _batch_norm(affine=False),
    _module(lambda shape: nn.GroupNorm(1, shape[1])),
    _module(lambda shape: nn.GELU()),
    _module(lambda shape: nn.Softmax(dim=-1)),
)
# For values with three and four dimensions. The second table holds what often follows an entry of the first.
CONVOLUTIONS = (
    _convolution("Conv", 3, padding=1),
    _convolution("Conv", 1),
    _convolution("Conv", 3, padding=1, bias=False),
    _convolution("Conv", 3, out=4, padding=1, stride=2),
    _convolution("Conv", 3, out=2, padding="same", dilation=2),
    _convolution("ConvTranspose", 3, padding=1),
)
NORMS = (
    _batch_norm(),
    _batch_norm(),
    _module(lambda shape: nn.GroupNorm(1, shape[1])),
    _module(lambda shape: nn.LayerNorm(shape[1:])),
)
ON_IMAGES = (
    _module(_convolution_block),
    _for_images("MaxPool", 2),
    _for_images("AdaptiveAvgPool", 1),
    _module(_convolution_block),
    _for_images("AvgPool", 2, stride=1),
    _module(lambda shape: nn.Flatten()),
    _module(lambda shape: getattr(nn, f"InstanceNorm{len(shape) - 2}d")(shape[1], affine=True)),
)
# They return integers below the size of the last dimension.
INDICES = (
    _function(torch.argmax, "input", "dim", more=(-1,)),
    _method("argmin", -1, True, names=("dim", "keepdim")),
    _function(torch.argsort, "input", dim=-1, stable=True),
)
COMPARISONS = (operator.gt, torch.le, operator.lt, torch.ne)
# They return some or all of their input's elements.
VIEWS = (
    _method("flatten", 1, names=("start_dim",)),
    _method("unsqueeze", 1, names=("dim",)),
    _operator(operator.getitem, 1, (slice(None), slice(0, 2))),
    _function(torch.unsqueeze, "input", "dim", more=(-1,)),
    _operator(operator.getitem, 1, (slice(None), slice(None, None, 2))),
    _method("squeeze", 1, names=("dim",)),
    _method("transpose", 1, -1, names=("dim0", "dim1")),
    _operator(operator.getitem, 1, (Ellipsis, slice(1, None))),
    _method("reshape", -1, 4),
    _function(torch.flatten, "input", "start_dim", more=(1,)),
    _operator(operator.getitem, 1, (slice(None), None)),
    _method("view_as", tensors=2, names=("other",)),
    _method("expand_as", tensors=2, names=("other",)),
)
# They return several values.
UNPACKED = (
    _function(torch.chunk, "input", "chunks", "dim", more=(2, -1)),
    _method("chunk", 2, names=("chunks",), dim=-1),
    _method("split", 2, names=("split_size",), dim=-1),
    _function(torch.unbind, "input", dim=1),
    _function(torch.max, "input", dim=-1, keepdim=True),
    _function(torch.var_mean, "input", dim=-1, correction=0, keepdim=True),
)
# They take several values as one argument, a tuple or a list.
PACKED = (
    Call("call_function", torch.cat, 2, names=("tensors",), named=(("dim", -1),)),
    Call("call_function", torch.stack, 2, names=("tensors",), named=(("dim", 1),)),
    Call("call_function", torch.cat, 3, (1,), names=("tensors", "dim")),
)
