"""Inputs by name: what an interpreter must report about each use, and whether it does."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.cases.exercise import model_of
from fxbook.cases.values import Value, dict_items, difference, encode
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


def shape(*sizes: int) -> tuple[str, ...]:
    """The spellings of a shape: of a tuple, and of a list or a ``torch.Size``."""
    return str(tuple(sizes)), str(list(sizes))


def faults_of(model: nn.Module, examples: dict[str, Any], values: dict[str, Any]) -> Faults:
    """The name of each input at fault, with the texts that must report it; each text is given in its spellings."""
    parameters = inspect.signature(model.forward).parameters
    faults: Faults = {name: (UNKNOWN,) for name in values if name not in parameters}
    for name, parameter in parameters.items():
        if name not in values:
            if parameter.default is inspect.Parameter.empty:
                faults[name] = (MISSING,)
        elif isinstance(examples.get(name), Tensor) and (misfit := _misfit(values[name], examples[name])):
            faults[name] = misfit
    return faults


def _misfit(value: Any, example: Tensor) -> tuple[tuple[str, ...], ...]:
    """What an error must say about a value: what it is, and what its example is."""
    if not isinstance(value, Tensor):
        return ((type(value).__name__,),)
    texts: list[tuple[str, ...]] = []
    if value.shape != example.shape:
        texts += [shape(*value.shape), shape(*example.shape)]
    if value.dtype != example.dtype:
        texts += [(str(tensor.dtype).removeprefix("torch."),) for tensor in (value, example)]
    return tuple(texts)


# ---- whether that is told --------------------------------------------------------------------------------------------

# Sentences, each with the place where it is explained.
Objections = Iterator[tuple[str, str]]


@rule
def tells_what_is_wrong(case: CaseView) -> Found:
    """Right inputs give the model's result; a ValueError names each fault, with what was found and what is expected."""
    model = model_of(case.case, case.seed)
    situations: tuple[Situation, ...] = model.situations()
    uses = dict_items(case.value).get("'uses'")
    if not isinstance(uses, list) or len(uses) != len(situations):
        yield None, "What your interpreter returns cannot be read."
        return
    for situation, use in zip(situations, uses, strict=True):
        faults, observation = faults_of(model, model.examples(), situation.values), dict_items(use)
        objections = (
            _to_a_refusal(situation, faults, observation) if faults else _to_a_run(model, situation, observation)
        )
        for sentence, place in objections:
            yield None, f"With {situation.name}: {sentence}.", place


def _to_a_run(model: nn.Module, situation: Situation, observation: dict[str, Value]) -> Objections:
    """What is wrong with how correct inputs were used."""
    raised, message = observation.get("'raised'"), str(observation.get("'message'"))
    if raised:
        refused = BY_NAME if _occurs("missing", message) or _occurs("unknown", message) else VALUES
        sentence = f"nothing is wrong, but {raised} is raised: {_first_line(message)}"
        yield sentence, refused if raised == "ValueError" else ENVIRONMENT
        return
    with torch.no_grad():
        wanted = encode(model(**situation.values))
    if differs := difference(observation.get("'returned'"), wanted, "the result"):
        yield f"the result is not that of the model: {differs}", ENVIRONMENT


def _to_a_refusal(situation: Situation, faults: Faults, observation: dict[str, Value]) -> Objections:
    """What is wrong with how faulty inputs were rejected."""
    raised, message = observation.get("'raised'"), str(observation.get("'message'"))
    about_names = any(map(_is_of_name, faults.values()))
    place = BY_NAME if about_names else VALUES
    if not raised:
        yield "no error is raised: it should be a ValueError", place
    if raised != "ValueError":
        yield f"{raised} is raised ({_first_line(message)}), not a ValueError", place
    if observation.get("'ran'"):
        yield "layers have run before the error was raised", place
    for name, texts in faults.items():
        of_fault = BY_NAME if _is_of_name(texts) else VALUES
        if not _occurs(name, message):
            yield f"the message does not name `{name}`", of_fault
        for spellings in texts:
            if not any(_occurs(spelling, message) for spelling in spellings):
                yield f"the message does not say `{spellings[0]}` of `{name}`", of_fault
    for name in situation.values:
        # An error about names may list the existing inputs; one about values has no reason to name the correct ones.
        if not about_names and name not in faults and _occurs(name, message):
            yield f"the message names `{name}`, which is not at fault", VALUES


def _is_of_name(texts: tuple[tuple[str, ...], ...]) -> bool:
    return texts[0] in (MISSING, UNKNOWN)


def _occurs(word: str, message: str) -> bool:
    """Whether a name, a shape or a word stands in the message by itself."""
    before, after = (r"(?<!\w)" if word[0].isalnum() else ""), (r"(?!\w)" if word[-1].isalnum() else "")
    return re.search(before + re.escape(word) + after, message, re.IGNORECASE) is not None


def _first_line(message: str) -> str:
    line = (message.strip().splitlines() or [""])[0].rstrip(".")
    return line if len(line) <= 120 else f"{line[:120]}…"


CHECK = Check((usable, tells_what_is_wrong))
