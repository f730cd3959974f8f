"""Inputs by name: one use of the learner's interpreter, what it must tell of it, and whether it does."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.asking.rule import Violation
from fxbook.asking.values import Value, dict_items, difference, encode
from fxbook.asking.view import CaseView

_HERE = "07_placeholder"
_BY_NAME = f"{_HERE}#in-one-page"
_VALUES = f"{_HERE}#replace-placeholder"
_ENVIRONMENT = f"{_HERE}#begin-with-an-environment"


@dataclasses.dataclass(frozen=True)
class Situation:
    """One use of an interpreter that takes its inputs by name.

    Args:
        name: how a report calls it, behind "With": ``"a mask of booleans"``.
        values: the inputs, by name.
    """

    name: str
    values: dict[str, Any]


# ---- the learner's half ----------------------------------------------------------------------------------------------


def no_interpreter(answer: Any) -> str | None:
    """What is wrong with an answer that is no class of interpreters."""
    if not isinstance(answer, type):
        return f"The answer is an object of class {type(answer).__name__}: pass your class itself, by its name"
    if not issubclass(answer, fx.Interpreter):
        return f"The class `{answer.__name__}` is no fx.Interpreter"
    return None


def used_by_name(
    answer: Any, traced: fx.GraphModule, examples: dict[str, Any], uses: list[dict[str, Any]]
) -> dict[str, Any]:
    """What the learner's interpreter does in each use, of which the inputs are given by name.

    Layers that are called are counted: a value that is refused must be refused before anything runs.
    """
    if said := no_interpreter(answer):
        return {"problem": said}
    if "run_by_name" not in dir(answer):
        return {"problem": f"The class `{answer.__name__}` has no method `run_by_name`"}
    called: list[int] = []
    for layer in traced.children():
        layer.register_forward_hook(lambda *_: called.append(1))
    runner = answer(traced, examples)
    told = []
    for values in uses:
        called.clear()
        try:
            with torch.no_grad():
                told.append({"returned": runner.run_by_name(**values), "ran": len(called)})
        except Exception as error:
            told.append({"raised": type(error).__name__, "message": str(error)[:2000], "ran": len(called)})
    return {"told": told}


# ---- the judge's half ------------------------------------------------------------------------------------------------

MISSING = ("missing",)
UNKNOWN = ("unknown",)
Faults = dict[str, tuple[tuple[str, ...], ...]]


def shape(*sizes: int) -> tuple[str, ...]:
    """The spellings of a shape: of a tuple, and of a list or a ``torch.Size``."""
    return str(tuple(sizes)), str(list(sizes))


def faults_of(model: nn.Module, examples: dict[str, Any], values: dict[str, Any]) -> Faults:
    """The name of each input at fault, with the texts that tell it; each text is given in its spellings."""
    parameters = inspect.signature(model.forward).parameters
    faults: Faults = {name: (UNKNOWN,) for name in values if name not in parameters}
    for name, parameter in parameters.items():
        if name not in values:
            if parameter.default is inspect.Parameter.empty:
                faults[name] = (MISSING,)
        elif isinstance(examples.get(name), Tensor) and (told := _misfit(values[name], examples[name])):
            faults[name] = told
    return faults


def _misfit(value: Any, example: Tensor) -> tuple[tuple[str, ...], ...]:
    """What an error is to say of a value: what it is, and what its example is."""
    if not isinstance(value, Tensor):
        return ((type(value).__name__,),)
    found: list[tuple[str, ...]] = []
    if value.shape != example.shape:
        found += [shape(*value.shape), shape(*example.shape)]
    if value.dtype != example.dtype:
        found += [(str(tensor.dtype).removeprefix("torch."),) for tensor in (value, example)]
    return tuple(found)


def unusable(value: Value) -> Violation | None:
    """The problem that the learner's half has told in place of a result."""
    if not isinstance(value, dict) or "dict" not in value:
        return Violation("What your interpreter gives cannot be read.")
    problem = dict_items(value).get("'problem'")
    return Violation(f"{problem}.", rule="usable") if problem else None


def tells_what_is_wrong(case: CaseView) -> Violation | None:
    """Right inputs give the model's result; each fault is told by a ValueError, by name, with what and what instead."""
    if broken := unusable(case.value):
        return broken
    told = dict_items(case.value).get("'told'")
    model, (_, examples, _) = case.model, case.arguments
    situations: tuple[Situation, ...] = model.situations()  # type: ignore[operator]
    if not isinstance(told, list) or len(told) != len(situations):
        return Violation("What your interpreter gives cannot be read.")
    for situation, found in zip(situations, told, strict=True):
        faults = faults_of(model, examples, situation.values)
        if objection := _objection(model, situation, faults, dict_items(found)):
            said, read = objection
            return Violation(f"With {situation.name}: {said}.", look=read)
    return None


def _objection(
    model: nn.Module, situation: Situation, faults: Faults, found: dict[str, Value]
) -> tuple[str, str] | None:
    """What is wrong with what was found, and where to read about it."""
    raised, message = found.get("'raised'"), str(found.get("'message'"))
    if not faults:
        if raised:
            refused = _BY_NAME if _occurs("missing", message) or _occurs("unknown", message) else _VALUES
            read = refused if raised == "ValueError" else _ENVIRONMENT
            return f"nothing is wrong, and {raised} is raised: {_first_line(message)}", read
        with torch.no_grad():
            wanted = encode(model(**situation.values))
        differs = difference(found.get("'returned'"), wanted, "the result")
        return (f"the result is not that of the model: {differs}", _ENVIRONMENT) if differs else None
    about_names = any(parts[0] in (MISSING, UNKNOWN) for parts in faults.values())
    read = _BY_NAME if about_names else _VALUES
    if not raised:
        return "no error is raised: a ValueError was asked", read
    if raised != "ValueError":
        return f"{raised} is raised ({_first_line(message)}): a ValueError was asked", read
    if found.get("'ran'"):
        return "layers have run before the error was raised", read
    return _untold(faults, message) or (None if about_names else _too_much(situation, faults, message))


def _untold(faults: Faults, message: str) -> tuple[str, str] | None:
    for name, parts in faults.items():
        read = _BY_NAME if parts[0] in (MISSING, UNKNOWN) else _VALUES
        if not _occurs(name, message):
            return f"the message does not name `{name}`", read
        for spellings in parts:
            if not any(_occurs(spelling, message) for spelling in spellings):
                return f"of `{name}` the message does not say `{spellings[0]}`", read
    return None


def _too_much(situation: Situation, faults: Faults, message: str) -> tuple[str, str] | None:
    """An error about names may list the inputs there are; one about values has no reason to name the right ones."""
    named: Sequence[str] = [name for name in situation.values if name not in faults]
    right = next((name for name in named if _occurs(name, message)), None)
    return (f"the message names `{right}`, in which nothing is wrong", _VALUES) if right else None


def _occurs(word: str, message: str) -> bool:
    """Whether a name, a shape or a word stands in the message by itself."""
    before, after = (r"(?<!\w)" if word[0].isalnum() else ""), (r"(?!\w)" if word[-1].isalnum() else "")
    return re.search(before + re.escape(word) + after, message, re.IGNORECASE) is not None


def _first_line(message: str) -> str:
    line = (message.strip().splitlines() or [""])[0].rstrip(".")
    return line if len(line) <= 120 else f"{line[:120]}…"
