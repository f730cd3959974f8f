"""Replace an activation in a backend, so that the gradients are those of the new one."""

from __future__ import annotations

from typing import Any

from torch import fx
from torch.nn import functional

from fxbook.asking import Check
from fxbook.asking.returned import table_of
from fxbook.asking.rule import Found, rule
from fxbook.asking.values import difference, encode
from fxbook.asking.view import CaseView

from .cases import differentiated


class _Replacing(fx.Interpreter):
    """Runs a graph with hardswish wherever it calls silu; the graph stays as it is."""

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return super().call_function(functional.hardswish if target is functional.silu else target, args, kwargs)


def asked(case: CaseView) -> dict[str, Any]:
    """Results and gradients of the graph with the new activation."""
    module, inputs = case.arguments
    return differentiated(_Replacing(module).run, inputs)


@rule
def returns_a_function_of_tuples(case: CaseView) -> Found:
    """The backend returns a function, and the function a tuple or a list with a tensor for each output."""
    told = table_of(case.value) or {}
    if "compiled" in told:
        yield None, f"The backend returns no function, but an object of type `{told['compiled']}`."
    if "returned" in told:
        yield None, f"The function returns {told['returned']}: Dynamo needs a tuple or a list of the outputs."
    results = told.get("results")
    if results is not None and len(results) != len(asked(case)["results"]):
        yield None, f"The function does not return an item for each output of the graph: {len(results)} of them."


@rule
def computes_the_new_function(case: CaseView) -> Found:
    """The results are those of the graph with the new activation."""
    told, right = table_of(case.value) or {}, asked(case)
    for place, (found, result) in enumerate(zip(told.get("results", []), right["results"], strict=False)):
        if differs := difference(found, encode(result)):
            yield None, f"Output {place} is not that of the graph with `hardswish` in place of `silu`: {differs}."


@rule
def has_its_gradients(case: CaseView) -> Found:
    """The gradients are those of the graph with the new activation."""
    told, right = table_of(case.value) or {}, asked(case)
    gradients = told.get("gradients")
    if gradients is None:
        yield None, "The outputs are right, and have no gradients: autograd does not know how they were computed."
        return
    for place, (found, gradient) in enumerate(zip(gradients, right["gradients"], strict=False)):
        if difference(found, encode(gradient)):
            yield None, f"The outputs are right, and the gradient of input {place} is not that of what is computed now."


CHECK = Check((returns_a_function_of_tuples, computes_the_new_function, has_its_gradients))
