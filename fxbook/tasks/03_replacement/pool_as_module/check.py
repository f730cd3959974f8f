"""Replace a function with a module."""

from __future__ import annotations

from collections import Counter

from torch import nn

from fxbook.cases import Check
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import given_edited, recompiled, unused_submodules
from fxbook.rules.families import Family
from fxbook.rules.predicates import edited, none_left, others_stay, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import arguments_kept, lints, no_dead_nodes

MODULE = Family("nn.AdaptiveAvgPool2d", modules=frozenset({"torch.nn.AdaptiveAvgPool2d"}))
POOL = Family("the function adaptive_avg_pool2d", frozenset({"torch.nn.functional.adaptive_avg_pool2d"}))


def module_calls(case: CaseView) -> list[NodeRecord]:
    """The new calls to an ``nn.AdaptiveAvgPool2d``."""
    kept = {node.index for node, was in case.kept() if was in MODULE}
    return [node for node in case.nodes if node in MODULE and node.index not in kept]


def _other_modules(case: CaseView) -> list[NodeRecord]:
    """The new calls to modules of another kind, whether new modules or the model's own."""
    own = Counter(node.target for node in case.before if node.op == "call_module")
    called = Counter(node.target for node in case.nodes if node.op == "call_module")
    kept = {node.index for node, was in case.kept() if node.target == was.target}
    calls = [node for node in case.nodes if node.op == "call_module" and node.kind and node not in MODULE]
    return [node for node in calls if called[node.target] > own[node.target] and node.index not in kept]


@rule("when_it_breaks/03_replacement#silent-add_submodule-has-replaced-a-layer-or-changed-the-model")
def keeps_modules(case: CaseView) -> Found:
    """Every submodule that the model holds is still there, called or not, and none was overwritten with a new one."""
    for node, before in case.kept():
        if node.op == before.op == "call_module" and node.target == before.target and node.kind != before.kind:
            yield node, f"now calls a {node.kind}: its submodule `{node.target}` was overwritten"
    held = _held(case)
    for node in module_calls(case):
        if not isinstance(held.get(node.target, nn.AdaptiveAvgPool2d(1)), nn.AdaptiveAvgPool2d):
            yield node, f"calls a new module: the model's own submodule `{node.target}` was overwritten"
    for path in held:
        if path and path not in case.modules:
            yield None, f"The submodule `{path}`, which the model holds but does not call, is gone: keep it."


@rule
def pools_are_modules(case: CaseView) -> Found:
    """Each call to the function has become a call to a module, which gets only the data."""
    expected = sum(node in POOL for node in case.before)
    calls = module_calls(case)
    for node in calls:
        if len(node.positional) + len(node.kwargs["dict"]) != 1:
            yield node, f"passes ({node.call.partition('(')[2]} to the module, which takes only the data"
    if len(calls) != expected:
        for node in _other_modules(case):
            yield node, f"calls an {node.kind.removeprefix('torch.')}, not an nn.AdaptiveAvgPool2d"
        many = f"{len(calls)} call{'' if len(calls) == 1 else 's'}"
        yield from others_stay(POOL, MODULE).find(case)
        yield None, f"The graph has {many} to nn.AdaptiveAvgPool2d, not {expected}."


@rule
def sizes_kept(case: CaseView) -> Found:
    """Calls with different sizes have become calls to different modules, each with the right size."""
    functions, calls = [node for node in case.before if node in POOL], module_calls(case)
    sizes = [f"`{node.call.partition(', ')[2].removesuffix(')')}`" for node in functions]
    modules, different = len({node.target for node in calls}), len(set(sizes))
    if modules < different:
        yield calls[0], f"Calls with {different} sizes share {modules} module{'' if modules == 1 else 's'}."
    pooled_before = Counter(case.before.nodes[index].name for node in functions for index in node.inputs)
    pooled = Counter(case.nodes[index].name for node in calls for index in node.inputs)
    if pooled == pooled_before:
        to = f"the sizes {', '.join(sizes)}, in this order" if sizes[1:] else f"the size {sizes[0]}"
        yield None, f"The functions pool to {to}, but the modules do not."


@rule("03_replacement#a-function-by-a-module-a-module-by-a-function")
def no_leftovers(case: CaseView) -> Found:
    """The result has no unused submodule besides those of the model."""
    for path in sorted({*unused_submodules(case)} - {*_held(case)}):
        yield None, f"The result holds the submodule `{path}`, which no node calls."


def _held(case: CaseView) -> dict[str, nn.Module]:
    """The submodules of the traced model as it was given."""
    return dict(case.arguments[0].named_modules(remove_duplicate=False))


CHECK = Check(
    (
        arguments_kept,
        lints,
        recompiled,
        edited,
        given_edited,
        keeps_modules,
        none_left(POOL),
        pools_are_modules,
        same_result.or_because(sizes_kept),
        no_dead_nodes,
        no_leftovers,
    )
)
