"""Rebuild any Sequential without its layers."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from fxbook.cases import Check
from fxbook.cases.values import Value
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import callers_input_stays, has_output, lints, recompiled, tensor_free
from fxbook.rules.families import LAYER_NORM, LINEAR, Family, family
from fxbook.rules.predicates import all_in_sight, no_dead_nodes, opcodes, shares_weights
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import expected_with_gradients, gradients_kept, no_module_called, same_result

LEAKY_RELU = family("leaky_relu", modules=(nn.LeakyReLU,))
KINDS = ((LINEAR, nn.Linear), (LAYER_NORM, nn.LayerNorm), (LEAKY_RELU, nn.LeakyReLU))


def layers_of(model: nn.Module) -> Iterator[tuple[Family, list[tuple[str, nn.Module]]]]:
    """For each kind, its layers with their paths, in the order in which a Sequential calls them."""
    named = list(model.named_modules(remove_duplicate=False))
    for kind, layer in KINDS:
        yield kind, [(path, module) for path, module in named if isinstance(module, layer)]


@rule
def each_layer_called(case: CaseView) -> Found:
    """The graph has as many calls to each kind of layer as the model makes, unless it writes that kind out."""
    functions = sum(node.op == "call_function" for node in case.nodes)
    total = sum(len(layers) for _, layers in layers_of(case.model))
    for kind, layers in layers_of(case.model):
        count = sum(node in kind for node in case.nodes)
        if count < len(layers) and (count or functions <= total):
            calls = f"{count} {'call' if count == 1 else 'calls'}"
            fetched = [node.target for node in case.nodes if node.op == "get_attr"]
            why = _why_fewer(count, layers, fetched)
            yield None, f"The graph has {calls} to {kind.label}, but the model has {len(layers)}{why}."


def _why_fewer(count: int, layers: list[tuple[str, nn.Module]], fetched: list[str]) -> str:
    """Which layer has no call: a layer whose weights are not fetched, or else a layer that is easily missed."""
    earlier = [[layer for _, layer in layers[:place]] for place in range(len(layers))]
    again = [path for (path, layer), others in zip(layers, earlier, strict=True) if layer in others]
    inside = [path for path, _ in layers if "." in path]
    homes = {target.rpartition(".")[0] for target in fetched}
    left = [path for path, layer in layers if any(True for _ in layer.parameters()) and path not in homes]
    if len(left) == len(layers) - count:
        again, inside = ([path for path in paths if path == left[0]] for paths in (again, inside))
    else:
        again = again if count == len(layers) - len(again) else []
        inside = inside if count <= len(layers) - len(inside) else []
    if again:
        return f": layer `{again[0]}` is an earlier layer, called again"
    if inside:
        return f": layer `{inside[0]}` is inside another Sequential"
    return ""


@rule
def settings_kept(case: CaseView) -> Found:
    """Each call has its layer's settings: the slope of a ``LeakyReLU``, the shape and ``eps`` of a ``LayerNorm``."""
    for kind, layers in layers_of(case.model):
        calls = [node for node in case.nodes if node in kind]
        for (path, layer), node in zip(layers, calls, strict=False):
            name, default = ("negative_slope", 0.01) if isinstance(layer, nn.LeakyReLU) else ("eps", 1e-5)
            setting, numbers = getattr(layer, name, default), _numbers(node)
            if setting not in numbers and (numbers or setting != default):
                yield node, f"does not have the `{name}` of layer `{path}`: {setting}"
            shape = getattr(layer, "normalized_shape", None)
            if shape is not None and list(shape) not in _shapes(node):
                yield node, f"does not have the `normalized_shape` of layer `{path}`: {shape}"


def _numbers(node: NodeRecord) -> list[float]:
    """The floats among the arguments of a call."""
    return [float(value["float"]) for value in _arguments(node) if isinstance(value, dict) and "float" in value]


def _shapes(node: NodeRecord) -> list[Value]:
    """The tuples and lists among the arguments of a call, as lists."""
    return [value.get("tuple") if isinstance(value, dict) else value for value in _arguments(node)]


def _arguments(node: NodeRecord) -> list[Value]:
    return [*node.positional, *(value for _, value in node.kwargs.get("dict", ()))]


@rule
def fetches_each_weight(case: CaseView) -> Found:
    """Each parameter of the model is fetched by a ``get_attr`` that a call uses, under one of the parameter's names."""
    fetched = {node.target for node in case.nodes if node.op == "get_attr" and node.users}
    named = list(case.model.named_parameters(remove_duplicate=False))
    for name, parameter in case.model.named_parameters():
        if fetched.isdisjoint(other for other, held in named if held is parameter):
            yield None, f"No call uses the model's `{name}`."


@rule
def weights_in_their_places(case: CaseView) -> Found:
    """No call gets a bias as its weight, or a weight as its bias."""
    for kind, first in ((LINEAR, 1), (LAYER_NORM, 2)):
        for node in (node for node in case.nodes if node in kind):
            passed = dict(zip(("weight", "bias"), node.positional[first : first + 2], strict=False))
            for role, value in {**passed, **dict(node.kwargs.get("dict", ()))}.items():
                path = case.nodes[value["node"]].target if isinstance(value, dict) and "node" in value else ""
                name = path.rpartition(".")[2]
                if role in ("weight", "bias") and name in ("weight", "bias") and name != role:
                    yield node, f"has `{path}` as its {role}"


@rule
def keeps_names(case: CaseView) -> Found:
    """The result's parameters have the same names as in the model."""
    names = {name for name, _ in case.model.named_parameters(remove_duplicate=False)}
    for extra in sorted(case.shared.keys() - names):
        yield None, f"The result has a parameter `{extra}`, which the model does not have."
    for missing in sorted(names - case.shared.keys()):
        yield None, f"The result has no parameter `{missing}`: the model's checkpoint does not load."


CHECK = Check(
    (
        lints,
        recompiled,
        no_module_called,
        all_in_sight,
        same_result.or_because(
            tensor_free, has_output, each_layer_called, settings_kept, fetches_each_weight, weights_in_their_places
        ),
        opcodes("placeholder", "get_attr", "call_function", "output"),
        shares_weights,
        keeps_names,
        gradients_kept,
        callers_input_stays,
        no_dead_nodes,
    ),
    expected=expected_with_gradients,
)
