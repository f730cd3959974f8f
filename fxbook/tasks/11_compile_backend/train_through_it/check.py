"""Check a backend that replaces an activation, so that the gradients are those of the new one."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import Any

from torch import fx
from torch.nn import functional

from fxbook.cases import Check
from fxbook.cases.values import Value, difference, encode
from fxbook.rules.returned import entry
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import differentiated


class _Replacing(fx.Interpreter):
    """Runs a graph with hardswish in place of silu, except at the nodes in ``kept``; does not change the graph."""

    def __init__(self, module: fx.GraphModule, kept: Collection[str] = (), writes: bool = True) -> None:
        super().__init__(module)
        self.kept, self.writes = kept, writes

    def run_node(self, n: fx.Node) -> Any:
        if n.target is not functional.silu or n.name in self.kept:
            return super().run_node(n)
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return functional.hardswish(*args, **(kwargs if self.writes else {**kwargs, "inplace": False}))


def expected(case: CaseView, **settings: Any) -> dict[str, Any]:
    """The results and gradients of the graph with the new activation, run with these settings of ``_Replacing``."""
    module, _, inputs = case.arguments
    return differentiated(_Replacing(module, **settings).run, inputs)


@rule
def returns_a_function_of_tuples(case: CaseView) -> Found:
    """The backend returns a function that returns a tuple or list with a tensor for each output."""
    if kind := entry(case.value, "compiled"):
        yield None, f"The backend returns an object of class {kind}: it should return a function."
    if kind := entry(case.value, "returned"):
        yield None, f"The function returns {kind}: it should return a tuple or a list of the outputs."
    results = entry(case.value, "results")
    if results is not None and len(results) != (outputs := len(expected(case)["results"])):
        items = f"{len(results)} item{'' if len(results) == 1 else 's'}"
        yield None, f"The function returns {items}, but the graph has {outputs} outputs."


@rule
def computes_the_new_function(case: CaseView) -> Found:
    """The results are those of the graph with the new activation, for the inputs of the call."""
    results, right = entry(case.value, "results") or [], expected(case)
    for place, (found, result) in enumerate(zip(results, right["results"], strict=False)):
        if differs := difference(found, encode(result)):
            yield from _reasons(case, results)
            yield from _unused_inputs(case, right)
            yield None, f"Output {place} is not that of the graph with `hardswish` in place of `silu`: {differs}."


def _reasons(case: CaseView, results: list[Value]) -> Found:
    """Mistakes that explain these results: silu still runs, or its replacement does not work in place."""
    calling = [node for node in case.before.nodes if node.target.endswith("functional.silu")]
    names = [node.name for node in calling]
    if entry(case.value, "stale") and _same(results, expected(case, kept=names)):
        sentence = "The graph has changed, but the compiled code is stale: calling the module still runs `silu`."
        yield None, sentence, "00_first_graph#change-one-node"
    for count in range(1, len(names) + 1):
        for kept in itertools.combinations(calling, count):
            if _same(results, expected(case, kept=[node.name for node in kept])):
                yield kept[0], "still calls `silu`: every call should be replaced"
    if _same(results, expected(case, writes=False)):
        writing = next(node for node in calling if "in place" in node.notes)
        yield writing, "works in place, but its replacement does not: a later node uses the tensor that it changes"


def _unused_inputs(case: CaseView, right: dict[str, Any]) -> Found:
    """Inputs on which the results should depend, but do not."""
    inputs = [node for node in case.before.nodes if node.op == "placeholder"]
    for node, found, gradient in zip(inputs, entry(case.value, "gradients") or [], right["gradients"], strict=False):
        if found is None and gradient is not None:
            yield node, "is an input, but the function that you return does not use its value"


def _same(results: list[Value], others: dict[str, Any]) -> bool:
    pairs = zip(results, others["results"], strict=True)
    return not any(difference(found, encode(result)) for found, result in pairs)


@rule
def has_its_gradients(case: CaseView) -> Found:
    """The gradients are those of the graph with the new activation."""
    gradients, right = entry(case.value, "gradients"), expected(case)["gradients"]
    if gradients is None:
        yield None, "The outputs are right, but have no gradients: autograd did not record how they were computed."
        return
    inputs = [node for node in case.before.nodes if node.op == "placeholder"]
    for node, found, gradient in zip(inputs, gradients, right, strict=False):
        if differs := difference(found, encode(gradient)):
            sentence = (
                f"The outputs are right, but the gradient of `{node.name}` is not that of `hardswish`: {differs}."
            )
            yield node, sentence


CHECK = Check((returns_a_function_of_tuples, computes_the_new_function, has_its_gradients))
