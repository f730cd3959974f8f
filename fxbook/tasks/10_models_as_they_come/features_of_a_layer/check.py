"""Check that a graph returns the result of a layer, and has nothing that this result does not need."""

from __future__ import annotations

from typing import Any

from torch import nn

from fxbook.cases import Check
from fxbook.rules.explained import given_edited, lints
from fxbook.rules.predicates import edited, no_dead_nodes, recompiled, same_output
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def of_the_layer(model: nn.Module, *inputs: Any) -> Any:
    """What the layer returns, recorded by a hook."""
    seen = []
    layer = model.get_submodule(model.path)
    with layer.register_forward_hook(lambda _module, _args, result: seen.append(result.clone())):
        model(*inputs)
    return seen[0]


@rule
def returns_the_node(case: CaseView) -> Found:
    """The graph returns the node that calls the layer."""
    if case.run_error:
        return
    output = next((node for node in case.nodes if node.op == "output"), None)
    match output.positional if output else None:
        case [{"node": int(index)}]:
            node = case.nodes[index]
            if (node.op, node.target) != ("call_module", case.model.path):
                yield node, f"is returned instead of the node that calls `{case.model.path}`"


@rule
def inputs_stay(case: CaseView) -> Found:
    """The graph still has each input."""
    left = [node.target for node in case.nodes if node.op == "placeholder"]
    for node in case.before:
        if node.op == "placeholder" and node.target not in left:
            yield None, f"The input `{node.target}` is gone: the graph should keep all inputs."


@rule
def called_layers_are_whole(case: CaseView) -> Found:
    """A layer that a node calls still has all of its submodules."""
    called = [node for node in case.nodes if node.op == "call_module" and node.target in case.modules]
    for path in dict(case.model.named_modules(remove_duplicate=False)):
        node = next((node for node in called if path.startswith(f"{node.target}.")), None)
        if node and path not in case.modules:
            yield node, f"calls `{node.target}`, but `{path}`, a part of this layer, is gone"


@rule
def weights_stay(case: CaseView) -> Found:
    """The modules that stay still have each weight that a node of the given graph fetches."""
    fetched = [node.target for node in case.before if node.op == "get_attr" and node.target in case.weights]
    for weight in fetched:
        if weight not in case.shared and weight.rpartition(".")[0] in ("", *case.modules):
            yield None, f"The weight `{weight}` is gone: remove layers, but leave other weights as they were."


@rule
def layers_are_gone(case: CaseView) -> Found:
    """A node calls each layer that the module has, or fetches one of its weights; empty containers may stay."""
    used = [f"{node.target}." for node in case.nodes if node.op in ("call_module", "get_attr")]
    given = dict(case.model.named_modules(remove_duplicate=False))
    for path in case.modules:
        is_used = any(f"{path}.".startswith(target) or target.startswith(f"{path}.") for target in used)
        if not is_used and path in given and not list(given[path].children()):
            called = (node.target for node in case.before if f"{path}.".startswith(f"{node.target}."))
            unused = f"No node calls or fetches from `{next(called, path)}`, but the module still has it"
            yield None, f"{unused}: erase dead nodes, then delete layers."


CHECK = Check(
    (
        lints,
        called_layers_are_whole,
        inputs_stay,
        recompiled,
        same_output.or_because(returns_the_node),
        no_dead_nodes,
        layers_are_gone,
        weights_stay,
        edited,
        given_edited,
    ),
    expected=of_the_layer,
)
