"""Replace an activation in a backend, so that the gradients are the new one's."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import Any

from torch import fx
from torch.nn import functional

from fxbook.cases import Check
from fxbook.cases.values import Value, difference, encode
from fxbook.rules.returned import table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import differentiated


class _Replacing(fx.Interpreter):
    """Runs a graph with hardswish in place of silu, except at some nodes; the graph stays as it is."""

    def __init__(self, module: fx.GraphModule, kept: Collection[str] = (), writes: bool = True) -> None:
        super().__init__(module)
        self.kept, self.writes = kept, writes

    def run_node(self, n: fx.Node) -> Any:
        if n.target is not functional.silu or n.name in self.kept:
            return super().run_node(n)
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return functional.hardswish(*args, **(kwargs if self.writes else {**kwargs, "inplace": False}))


def asked(case: CaseView, **otherwise: Any) -> dict[str, Any]:
    """Results and gradients of the graph with the new activation, or as the settings of the run say."""
    module, _, inputs = case.arguments
    return differentiated(_Replacing(module, **otherwise).run, inputs)


@rule
def returns_a_function_of_tuples(case: CaseView) -> Found:
    """The backend returns a function, which returns a tuple or a list with a tensor for each output."""
    told = table_of(case.value) or {}
    if "compiled" in told:
        yield None, f"The backend does not return a function, but an object of type `{told['compiled']}`."
    if "returned" in told:
        yield None, f"The function returns {told['returned']}: Dynamo needs a tuple or a list of the outputs."
    results = told.get("results")
    if results is not None and len(results) != (outputs := len(asked(case)["results"])):
        yield None, f"The function returns {len(results)} items: the graph has {outputs} outputs."


@rule
def computes_the_new_function(case: CaseView) -> Found:
    """The results are those of the graph with the new activation, for the inputs of the call."""
    told, right = table_of(case.value) or {}, asked(case)
    results = told.get("results", [])
    for place, (found, result) in enumerate(zip(results, right["results"], strict=False)):
        if differs := difference(found, encode(result)):
            yield from _reasons(case, results, told)
            yield from _unread_inputs(case, told, right)
            yield None, f"Output {place} is not that of the graph with `hardswish` in place of `silu`: {differs}."


def _reasons(case: CaseView, results: list[Value], told: dict[str, Value]) -> Found:
    """Mistakes that explain these results: silu still runs, or its replacement does not work in place."""
    calling = [node for node in case.before.nodes if node.target.endswith("functional.silu")]
    names = [node.name for node in calling]
    if told.get("stale") and _same(results, asked(case, kept=names)):
        sentence = "The graph is changed, but the compiled code is stale: calling the module still runs `silu`."
        yield None, sentence, "00_first_graph#change-one-node"
    for count in range(1, len(names) + 1):
        for kept in itertools.combinations(calling, count):
            if _same(results, asked(case, kept=[node.name for node in kept])):
                yield kept[0], "still runs as `silu`: each call must be replaced"
    if _same(results, asked(case, writes=False)):
        writing = next(node for node in calling if "in place" in node.notes)
        yield writing, "works in place, but its replacement does not: a later node uses the tensor that it writes"


def _unread_inputs(case: CaseView, told: dict[str, Value], right: dict[str, Any]) -> Found:
    """Inputs that the results do not depend on."""
    inputs = [node for node in case.before.nodes if node.op == "placeholder"]
    for node, found, gradient in zip(inputs, told.get("gradients") or [], right["gradients"], strict=False):
        if found is None and gradient is not None:
            yield node, "is an input, but the function that you return does not use the value that it gets for it"


def _same(results: list[Value], others: dict[str, Any]) -> bool:
    pairs = zip(results, others["results"], strict=True)
    return not any(difference(found, encode(result)) for found, result in pairs)


@rule
def has_its_gradients(case: CaseView) -> Found:
    """The gradients are those of the graph with the new activation."""
    told, right = table_of(case.value) or {}, asked(case)
    gradients = told.get("gradients")
    if gradients is None:
        yield (
            None,
            "The outputs are right, but they have no gradients: autograd has not recorded how they were computed.",
        )
        return
    inputs = [node for node in case.before.nodes if node.op == "placeholder"]
    for node, found, gradient in zip(inputs, gradients, right["gradients"], strict=False):
        if differs := difference(found, encode(gradient)):
            yield (
                node,
                f"The outputs are right, but the gradient of `{node.name}` is not that of `hardswish`: {differs}.",
            )


CHECK = Check((returns_a_function_of_tuples, computes_the_new_function, has_its_gradients))
