"""What is true of the trace of a function of chapter 05, found out by tracing and comparing: a verdict, and why."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils import _pytree as pytree

_HERE = "05_control_flow_limits"
_STOPS = f"{_HERE}#when-it-breaks"
_IS_NONE = f"{_HERE}#is-none-is-never-true"
_ISINSTANCE = f"{_HERE}#isinstance-type-and-match-describe-the-proxy"
_EXCEPT = f"{_HERE}#except-swallows-the-traceerror"
_ANSWERED = f"{_HERE}#python-answers-in-its-place"
_PROVEN = f"{_HERE}#what-python-does-leaves-no-node"
_ORDINALS = ("first", "second", "third", "fourth")
_COUNTS = ("no", "one", "two", "three", "four")


@dataclasses.dataclass(frozen=True)
class Truth:
    """``"stops"``, ``"differs"`` or ``"same"``; why, in words that follow a "but"; and where that is explained."""

    verdict: str
    why: str
    look: str


def truth_of(function: Callable[..., Any], batches: list[Tensor]) -> Truth:
    """Trace the function and compare, on copies of the batches."""
    try:
        traced = fx.symbolic_trace(function)
    except Exception as error:
        name = type(error).__name__
        # Comparing raises that one too.
        said = "it is tracing that raises an" if isinstance(error, AssertionError) else "tracing it raises a"
        return Truth("stops", f"{said} {name}", _STOPS)
    found = [_difference(traced, function, batch) for batch in batches]
    place = next((place for place, why in enumerate(found) if why), None)
    if place is not None:
        often = f"on the {_ORDINALS[place]} of {_COUNTS[len(batches)]} batches " if None in found else ""
        return Truth("differs", f"{often}{found[place]}", _section(function))
    why = "the traced function returns what the function returns, on every batch"
    if any(_writes(function, batch) for batch in batches):
        why = "on equal batches both return the same (the function writes into its batch)"
    return Truth("same", why, _PROVEN)


def _difference(traced: fx.GraphModule, function: Callable[..., Any], batch: Tensor) -> str | None:
    """In which respect the results differ, in words. The call of a module would print what fails in it."""
    wanted = function(batch.clone())
    try:
        found = traced.forward(batch.clone())
    except Exception:
        return "the traced function raises an error where the function does not"
    ours, form = pytree.tree_flatten(wanted)
    theirs, other_form = pytree.tree_flatten(found)
    if form != other_form:
        kind, other = ("dict" if isinstance(value, dict) else "" for value in (wanted, found))
        return f"the function returns {_count(ours, kind)}, the traced one {_count(theirs, other)}"
    for place, (one, other_one) in enumerate(zip(ours, theirs, strict=True)):
        if one.dtype != other_one.dtype:
            names = (str(value.dtype).removeprefix("torch.") for value in (one, other_one))
            return "the function returns {}, the traced one {}".format(*names)
        if not torch.equal(one, other_one):
            if ours[1:]:
                return f"the {_ORDINALS[place]} of the {_COUNTS[len(ours)]} tensors returned differs"
            return _other_numbers(one, other_one)
    return None


def _count(tensors: list[Tensor], kind: str) -> str:
    if kind:
        return f"a {kind} of {_COUNTS[len(tensors)]}"
    return "a single one" if len(tensors) == 1 else f"{_COUNTS[len(tensors)]} tensors"


def _other_numbers(wanted: Tensor, found: Tensor) -> str:
    if wanted.shape != found.shape:
        return f"the function returns the shape {tuple(wanted.shape)}, the traced one {tuple(found.shape)}"
    differing = int((wanted != found).sum())
    if 10 * differing < wanted.numel():
        one = "one" if differing == 1 else str(differing)
        return f"{one} of the {wanted.numel()} elements differ{'s' if differing == 1 else ''}"
    if torch.equal(found, -wanted):
        return "the traced function changes the sign"
    for constant, said in ((found / wanted, "{} times what the function does"), (found - wanted, "the same plus {}")):
        number = float(constant.flatten()[0])
        if torch.allclose(constant, torch.full_like(constant, number)):
            return f"the traced function returns {said.format(f'{number:.6g}')}"
    return "the traced function returns other numbers"


def _writes(function: Callable[..., Any], batch: Tensor) -> bool:
    handed = batch.clone()
    function(handed)
    return not torch.equal(handed, batch)


def _section(function: Callable[..., Any]) -> str:
    """Where the trap in the code of a function is explained."""
    code = function.__code__
    if code.co_exceptiontable:
        return _EXCEPT
    if "hasattr" in code.co_names:
        return _ANSWERED
    return _ISINSTANCE if {"isinstance", "type"}.intersection(code.co_names) else _IS_NONE
