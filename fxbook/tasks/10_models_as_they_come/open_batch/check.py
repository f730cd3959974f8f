"""Check a program that was exported for every batch size."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.cases.values import difference, encode
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.returned import entry
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import OTHER_BATCHES, of_batch


@rule
def a_program_is_returned(case: CaseView) -> Found:
    """The answer returns an ExportedProgram."""
    if kind := entry(case.value, "kind"):
        yield None, f"Your function returns an object of class {kind}: it should return an ExportedProgram."


@rule
def takes_the_example(case: CaseView) -> Found:
    """The program takes the inputs of the example by name."""
    if why := entry(entry(case.value, "example"), "raised"):
        yield None, f"`program.module()(**inputs)` raises: {why}."


@rule
def takes_every_batch(case: CaseView) -> Found:
    """The program also takes inputs of other batch sizes."""
    for batch, found in zip(OTHER_BATCHES, entry(case.value, "others"), strict=True):
        if why := entry(found, "raised"):
            yield None, f"The program rejects a batch of {batch}: {why}."


@rule
def the_numbers(case: CaseView) -> Found:
    """At each batch size, the program computes what the model computes."""
    model, inputs = case.arguments
    batches = [inputs, *(of_batch(inputs, batch) for batch in OTHER_BATCHES)]
    for given, found in zip(batches, [entry(case.value, "example"), *entry(case.value, "others")], strict=True):
        if differs := difference(entry(found, "result"), encode(model(**given))):
            batch = len(next(iter(given.values())))
            mode = f"The model is in {'train' if model.training else 'eval'} mode: export it as it is."
            yield None, f"With a batch of {batch}, the result is not that of the model: {differs}. {mode}"


@rule
def other_dimensions_stay(case: CaseView) -> Found:
    """Only the first dimension of each input is dynamic."""
    for dimension in entry(case.value, "dynamic"):
        yield None, f"{dimension} is dynamic: it should be static."


CHECK = Check(
    (a_program_is_returned, input_unchanged, takes_the_example, takes_every_batch, the_numbers, other_dimensions_stay)
)
