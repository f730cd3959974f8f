"""Tell loud from silent: the check traces the function itself, and compares."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils import _pytree as pytree

from fxbook.cases import Check
from fxbook.rules.rule import Found, rule
from fxbook.rules.trial import Trial
from fxbook.rules.view import CaseView

_STOPS = "05_control_flow_limits#when-it-breaks"
_IS_NONE = "05_control_flow_limits#is-none-is-never-true"
_ISINSTANCE = "when_it_breaks/05_control_flow_limits#isinstance-type-and-match-describe-the-proxy"
_EXCEPT = "when_it_breaks/05_control_flow_limits#except-swallows-the-traceerror"
_ANSWERED = "05_control_flow_limits#python-answers-in-its-place"
_PROVEN = "05_control_flow_limits#what-python-does-leaves-no-node"
_LONGEST = 90
_RUN_RAISES = "it is the traced function that raises"
_VERDICTS = ("stops", "differs", "same")
_ORDINALS = ("first", "second", "third", "fourth")
_COUNTS = ("no", "one", "two", "three", "four")


@dataclasses.dataclass(frozen=True)
class Truth:
    """The right verdict (``"stops"``, ``"differs"`` or ``"same"``), why, worded to follow "but", and where to read.

    ``stopped_by`` is the error that tracing raises, in words.
    """

    verdict: str
    why: str
    place: str
    stopped_by: str = ""


def truth_of(function: Callable[..., Any], batches: list[Tensor]) -> Truth:
    """Trace the function and compare, on copies of the batches."""
    try:
        traced = fx.symbolic_trace(function)
    except Exception as error:
        shown = _shown(error)
        # Comparing also raises an AssertionError.
        who = "it is tracing that raises" if isinstance(error, AssertionError) else "tracing it raises"
        return Truth("stops", f"{who} {shown}, so there is no traced function", _STOPS, shown)
    differences = [_difference(traced, function, batch) for batch in batches]
    place = next((place for place, why in enumerate(differences) if why), None)
    if place is not None:
        often = f"on the {_ORDINALS[place]} of {_COUNTS[len(batches)]} batches " if None in differences else ""
        return Truth("differs", f"{often}{differences[place]}", _section(function))
    why = "the traced function returns what the function returns, on every batch"
    if any(_writes(function, batch) for batch in batches):
        why = "on equal batches both return the same (the function writes into its batch)"
    return Truth("same", why, _PROVEN)


def _difference(traced: fx.GraphModule, function: Callable[..., Any], batch: Tensor) -> str | None:
    """How the results differ, in words; ``None`` if they do not."""
    expected = function(batch.clone())
    try:
        # Calling the module itself would print the errors raised inside it.
        result = traced.forward(batch.clone())
    except Exception as error:
        return f"{_RUN_RAISES} {_shown(error)}, not tracing"
    ours, form = pytree.tree_flatten(expected)
    theirs, other_form = pytree.tree_flatten(result)
    if form != other_form:
        return f"the function returns {_form(expected)}, the traced one {_form(result)}"
    for place, (tensor, other_tensor) in enumerate(zip(ours, theirs, strict=True)):
        if tensor.dtype != other_tensor.dtype:
            names = (str(value.dtype).removeprefix("torch.") for value in (tensor, other_tensor))
            return "the function returns {}, the traced one {}".format(*names)
        if not torch.equal(tensor, other_tensor):
            if ours[1:]:
                return f"the {_ORDINALS[place]} of the {_COUNTS[len(ours)]} tensors returned differs"
            return _other_numbers(tensor, other_tensor)
    return None


def _shown(error: Exception) -> str:
    """The class of an error, and the beginning of its message."""
    said = str(error).strip().split("\n")[0].rstrip(".")
    return f"{type(error).__name__} (“{said if len(said) <= _LONGEST else said[:_LONGEST] + '…'}”)"


def _form(value: Any) -> str:
    match value:
        case Tensor():
            return "a tensor"
        case dict():
            return f"a dict with the key{'s' if len(value) > 1 else ''} {', '.join(map(repr, value))}"
    return f"a {type(value).__name__} of {_COUNTS[len(value)]}"


def _other_numbers(expected: Tensor, result: Tensor) -> str:
    if expected.shape != result.shape:
        return f"the function returns the shape {tuple(expected.shape)}, the traced one {tuple(result.shape)}"
    differing = int((expected != result).sum())
    if 10 * differing < expected.numel():
        many = "one" if differing == 1 else str(differing)
        return f"{many} of the {expected.numel()} elements differ{'s' if differing == 1 else ''}"
    if torch.equal(result, -expected):
        return "the traced function changes the sign"
    comparisons = ((result / expected, "{} times what the function does"), (result - expected, "the same plus {}"))
    for constant, words in comparisons:
        number = float(constant.flatten()[0])
        if torch.allclose(constant, torch.full_like(constant, number)):
            return f"the traced function returns {words.format(f'{number:.6g}')}"
    return "the traced function returns different numbers"


def _writes(function: Callable[..., Any], batch: Tensor) -> bool:
    handed = batch.clone()
    function(handed)
    return not torch.equal(handed, batch)


def _section(function: Callable[..., Any]) -> str:
    """The section that explains why this function is traced wrongly."""
    code = function.__code__
    if code.co_exceptiontable:
        return _EXCEPT
    if "hasattr" in code.co_names:
        return _ANSWERED
    return _ISINSTANCE if {"isinstance", "type"}.intersection(code.co_names) else _IS_NONE


@rule
def right_verdict(case: CaseView) -> Found:
    """The verdict is correct for the function."""
    name = case.case.name
    if case.value not in _VERDICTS:
        words = ", ".join(repr(word) for word in _VERDICTS)
        yield None, f"For {name}, your function returns none of {words}."
        return
    truth = truth_of(*case.arguments)
    if case.value != truth.verdict:
        yield None, f"For {name}, your function returns {case.value!r}, but {truth.why}.", truth.place


def on_error(trial: Trial, _kind: str) -> str | None:
    """What made the answer raise: tracing that stops, a traced function that raises, or results that differ."""
    truth = truth_of(*trial.fresh_arguments())
    name = trial.case.name
    if truth.verdict == "stops":
        stopped = f"Tracing {name} raises {truth.stopped_by}, so there is no traced function"
        return f"{stopped}: your function must catch it, whatever its class, and return a verdict."
    if _RUN_RAISES in truth.why:
        return f"For {name}, {truth.why}: your function must catch that too, and return a verdict."
    if truth.verdict == "differs":
        return f"For {name}, {truth.why}: your comparison raises an error, but your function must return a verdict."
    return None


CHECK = Check((right_verdict,), on_error=on_error)
