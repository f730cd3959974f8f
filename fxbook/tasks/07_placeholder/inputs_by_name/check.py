"""Inputs by name: what an interpreter must report about the inputs of each call, and whether it does."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.cases.exercise import model_of
from fxbook.cases.values import Value, difference, encode
from fxbook.rules.returned import entry
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import usable
from .cases import Situation

BY_NAME = "07_placeholder#in-one-page"
VALUES = "when_it_breaks/07_placeholder#silent-a-value-of-the-wrong-dtype-or-shape-is-accepted"
ENVIRONMENT = "07_placeholder#begin-with-an-environment"

MISSING = ("missing",)
UNKNOWN = ("unknown",)
Faults = dict[str, tuple[tuple[str, ...], ...]]


def faults_of(model: nn.Module, examples: dict[str, Any], values: dict[str, Any]) -> Faults:
    """For each input at fault, the texts that the error message must contain, each in all accepted spellings."""
    parameters = inspect.signature(model.forward).parameters
    faults: Faults = {name: (UNKNOWN,) for name in values if name not in parameters}
    for name, parameter in parameters.items():
        if name not in values:
            if parameter.default is inspect.Parameter.empty:
                faults[name] = (MISSING,)
        elif isinstance(examples.get(name), Tensor) and (texts := _mismatch(values[name], examples[name])):
            faults[name] = texts
    return faults


def _mismatch(value: Any, example: Tensor) -> tuple[tuple[str, ...], ...]:
    """For each difference between a value and its example, the texts that an error message must contain."""
    if not isinstance(value, Tensor):
        return ((type(value).__name__,),)
    texts: list[tuple[str, ...]] = []
    if value.shape != example.shape:
        # Also as a list, which is part of how a torch.Size is printed.
        texts += [(str(tuple(tensor.shape)), str(list(tensor.shape))) for tensor in (value, example)]
    if value.dtype != example.dtype:
        texts += [(str(tensor.dtype).removeprefix("torch."),) for tensor in (value, example)]
    return tuple(texts)


# Parts of sentences, each with the place where it is explained.
Objections = Iterator[tuple[str, str]]


@rule
def reports_each_fault(case: CaseView) -> Found:
    """If all inputs are right, the result is the model's; otherwise, a ValueError reports each fault."""
    model = model_of(case.case, case.seed)
    situations: tuple[Situation, ...] = model.situations()
    uses = entry(case.value, "uses")
    if not isinstance(uses, list) or len(uses) != len(situations):
        yield None, "What your interpreter returns cannot be read."
        return
    earlier, reported = dict[str, Any](), set[str]()
    for situation, use in zip(situations, uses, strict=True):
        faults = faults_of(model, model.examples(), situation.values)
        found = _to_an_error(situation, faults, use, reported) if faults else _to_a_run(model, situation, use, earlier)
        for sentence, place in found:
            yield None, f"With {situation.name}: {sentence}.", place
        earlier |= {} if faults else situation.values
        reported |= set(faults)


def _to_a_run(model: nn.Module, situation: Situation, use: Value, earlier: dict[str, Any]) -> Objections:
    """What is wrong with a call that had correct inputs; ``earlier`` are the values that earlier calls passed."""
    raised, message = entry(use, "raised"), str(entry(use, "message"))
    if raised:
        place = BY_NAME if _occurs("missing", message) or _occurs("unknown", message) else VALUES
        sentence = f"nothing is wrong, but {raised} is raised: {_first_line(message)}"
        yield sentence, place if raised == "ValueError" else ENVIRONMENT
        return
    with torch.no_grad():
        wanted = encode(model(**situation.values))
    if differs := difference(entry(use, "returned"), wanted, "the result"):
        for name in earlier.keys() - situation.values.keys():
            with torch.no_grad():
                stale = encode(model(**situation.values, **{name: earlier[name]}))
            if not difference(entry(use, "returned"), stale, "the result"):
                yield f"`{name}` is left out, but gets its value from an earlier call, not its default", ENVIRONMENT
        yield f"the result is not that of the model: {differs}", ENVIRONMENT


def _to_an_error(situation: Situation, faults: Faults, use: Value, reported: set[str]) -> Objections:
    """What is wrong with the error from wrong inputs, if any; those in ``reported`` were at fault in earlier calls."""
    raised, message = entry(use, "raised"), str(entry(use, "message"))
    about_names = any(map(_is_of_name, faults.values()))
    place = BY_NAME if about_names else VALUES
    if not raised:
        yield "no error is raised: it should raise a ValueError", place
    if raised != "ValueError":
        yield f"{raised} is raised ({_first_line(message)}), not a ValueError", place
    if entry(use, "ran"):
        yield "layers ran before the error was raised", place
    for name, texts in faults.items():
        of_fault = BY_NAME if _is_of_name(texts) else VALUES
        if not _occurs(name, message):
            yield f"the message does not name `{name}`", of_fault
        for spellings in texts:
            if not any(_occurs(spelling, message) for spelling in spellings):
                yield f"the message does not contain `{spellings[0]}` for `{name}`", of_fault
    for name in situation.values:
        # An error about names may list all inputs of the model; one about values should name only the wrong ones.
        if not about_names and name not in faults and _occurs(name, message):
            now = " in this call, although it was in an earlier one" if name in reported else ""
            yield f"the message names `{name}`, which is not at fault{now}", VALUES


def _is_of_name(texts: tuple[tuple[str, ...], ...]) -> bool:
    return texts[0] in (MISSING, UNKNOWN)


def _occurs(word: str, message: str) -> bool:
    """Whether the message contains the word or the shape, and not only as part of a longer word."""
    before, after = (r"(?<!\w)" if word[0].isalnum() else ""), (r"(?!\w)" if word[-1].isalnum() else "")
    return re.search(before + re.escape(word) + after, message, re.IGNORECASE) is not None


def _first_line(message: str) -> str:
    line = (message.strip().splitlines() or [""])[0].rstrip(".")
    return line if len(line) <= 120 else f"{line[:120]}…"


CHECK = Check((usable, reports_each_fault))
