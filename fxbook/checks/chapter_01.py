"""What the exercises of chapter 01 ask: nodes made by hand, of every opcode, with arguments of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import fx, nn

from fxbook.checks import Case, CaseView, Exercise, Violation, eager
from fxbook.checks.families import LAYER_NORM, LINEAR, Family, family
from fxbook.checks.models_01 import (
    ManySums,
    Padded,
    Residual,
    RotateHalf,
    ScaleAndShift,
    ShiftedNorm,
    many_sums,
    mlp,
    nested,
    padded_by_hand,
    scale_and_shift_by_hand,
    trained,
)
from fxbook.checks.predicates import (
    configurable,
    edited,
    every_node,
    has_node,
    lints,
    look,
    no_dead_nodes,
    opcodes,
    placeholders,
    recompiled,
    same_result,
    same_result_or,
    shares_weights,
)
from fxbook.record import JSON, NodeRecord

SIX = ("placeholder", "get_attr", "call_function", "call_module", "call_method", "output")
LEAKY_RELU = family("leaky_relu", modules=(nn.LeakyReLU,))


@configurable
def finds(case: CaseView, additions: dict[str, tuple[str, ...]]) -> Violation | None:
    """The answer is the list of the nodes that add, which ``additions`` names for each case."""
    wanted, listed = additions[case.case.name], case.value
    nodes = listed.get("tuple") if isinstance(listed, dict) else listed
    if not isinstance(nodes, list) or not all(isinstance(item, dict) and "node" in item for item in nodes):
        return Violation("The answer is not a list of nodes.")
    found = [item["node"] for item in nodes]
    for node in case.before:
        if (node.name in found) != (node.name in wanted):
            said = "is an addition, and not in the list" if node.name in wanted else "is in the list, and no addition"
            near = [line for line in case.before.nodes[: node.index + 1] if line.op != "placeholder"][-2:]
            lines = ", ".join(f"`{line.name} = {line.call}`" for line in near)
            context = f"; the graph reads {lines}" if lines else ""
            return Violation(f"Node `{node.name}`, a `{node.op}`, {said}{context}.")
    if found != [node.name for node in case.before if node.name in wanted]:
        return Violation("The list holds the right nodes, not each once and in graph order.")
    return None


def no_tensor_argument(node: NodeRecord) -> str | None:
    """No tensor stands among the arguments, at any depth."""
    if _holds_tensor(node.args) or _holds_tensor(node.kwargs):
        return f"Node `{node.name}` has a tensor among its arguments: `{node.call}`."
    return None


tensor_free = look("01_node_creation#a-tensor-is-not-an-argument", every_node(no_tensor_argument))


def _holds_tensor(value: JSON) -> bool:
    match value:
        case {"constant": "Tensor" | "Parameter" | "Buffer"}:
            return True
        case dict():
            return any(map(_holds_tensor, value.values()))
        case list():
            return any(map(_holds_tensor, value))
        case _:
            return False


def brackets_take_two(case: CaseView) -> Violation | None:
    """``[]`` has one index: what follows it among the arguments vanishes from the code."""
    for node in case.nodes:
        count = len(_items(node.args))
        if node.target == "operator.getitem" and count > 2:
            said = f"Node `{node.name}` has {count} arguments: the code of `[]` has room for two, the rest is left out."
            return Violation(said, node.index)
    return None


def in_last_dimension(case: CaseView) -> Violation | None:
    """Slices and ``cat`` work on the last of the three dimensions of ``x``."""
    for node in case.nodes:
        items = _items(node.args)
        if node.target == "operator.getitem" and len(items) == 2:
            index = _items(items[1]) if isinstance(items[1], dict) and "tuple" in items[1] else [items[1]]
            slices = any(isinstance(item, dict) and "slice" in item for item in index)
            whole = any(isinstance(item, dict) and item.get("constant") == "ellipsis" for item in index)
            if slices and not whole and len(index) < 3:
                said = f"Node `{node.name}` cuts dimension {len(index) - 1} of `x`, which has 3: the last was asked."
                return Violation(said, node.index)
        named = dict(node.kwargs.get("dict", ()))
        dim = named.get("dim", items[1] if len(items) > 1 else 0)
        if node.target == "torch.cat" and isinstance(dim, int) and dim not in (-1, 2):
            return Violation(f"Node `{node.name}` joins along dimension {dim}: the last was asked.", node.index)
    return None


def _items(args: JSON) -> list[JSON]:
    return args.get("tuple", []) if isinstance(args, dict) else args


def fetches_weights(case: CaseView) -> Violation | None:
    """Each ``get_attr`` fetches a parameter or a buffer of the result, so that ``state_dict`` holds it."""
    for node in case.nodes:
        if node.op == "get_attr" and case.shared and node.target not in case.shared:
            return Violation(
                f"Node `{node.name}` fetches `{node.target}`, which is neither a parameter nor a buffer.", node.index
            )
    if not case.shared and (fetch := next((node for node in case.nodes if node.op == "get_attr"), None)):
        return Violation(f"Node `{fetch.name}` fetches `{fetch.target}`: the module has no buffer.", fetch.index)
    return None


def no_module_called(node: NodeRecord) -> str | None:
    """The node calls no module."""
    return f"Node `{node.name}` calls the module `{node.target}`." if node.op == "call_module" else None


def keeps_names(case: CaseView) -> Violation | None:
    """The parameters of the result have the names that they have in the model."""
    given = set(dict(case.model.named_parameters(remove_duplicate=False)))
    found = set(case.shared)
    if extra := sorted(found - given):
        return Violation(f"The result has a parameter `{extra[0]}`, which the model does not have.")
    if missing := sorted(given - found):
        return Violation(f"The result has no parameter `{missing[0]}`: the model's checkpoint does not load.")
    return None


def each_layer_called(case: CaseView) -> Violation | None:
    """As many calls of each kind of layer as the model makes."""
    for kind, layers in _layers(case):
        done = sum(node in kind for node in case.nodes)
        if done >= len(layers):
            continue
        again = [path for at, (path, layer) in enumerate(layers) if layer in [seen for _, seen in layers[:at]]]
        shared = f": its layer `{again[0]}` is an earlier one, called once more" if again else ""
        return Violation(f"The graph has {done} calls of {kind.label}, the model {len(layers)}{shared}.")
    return None


def settings_kept(case: CaseView) -> Violation | None:
    """The slope of each ``LeakyReLU`` and the ``eps`` of each ``LayerNorm`` stand among the arguments of their call."""
    for kind, layers in _layers(case):
        found = [node for node in case.nodes if node in kind]
        for (path, layer), node in zip(layers, found, strict=False):
            name, default = ("negative_slope", 0.01) if isinstance(layer, nn.LeakyReLU) else ("eps", 1e-5)
            wanted = getattr(layer, name, default)
            given = [float(value["float"]) for value in _leaves(node) if isinstance(value, dict) and "float" in value]
            if wanted not in given and (given or wanted != default):
                return Violation(f"Node `{node.name}` does not have the `{name}` of layer `{path}`.", node.index)
    return None


def _layers(case: CaseView) -> Iterator[tuple[Family, list[tuple[str, nn.Module]]]]:
    named = list(case.model.named_modules(remove_duplicate=False))
    for kind, layer in ((LINEAR, nn.Linear), (LAYER_NORM, nn.LayerNorm), (LEAKY_RELU, nn.LeakyReLU)):
        yield kind, [(path, module) for path, module in named if isinstance(module, layer)]


def _leaves(node: NodeRecord) -> list[JSON]:
    return [*_items(node.args), *(value for _, value in node.kwargs.get("dict", ()))]


def rows(width: int, count: int = 3) -> Any:
    """A function that draws a batch of ``count`` rows."""
    return lambda: (torch.randn(count, width),)


EXERCISES = (
    Exercise(
        id="01-six-opcodes",
        use="build",
        given=eager,
        cases=(
            Case("the shifted norm", lambda: trained(ShiftedNorm(4)), rows(4)),
            Case("a wider one", lambda: trained(ShiftedNorm(7)), rows(7, 2), unseen=True),
        ),
        properties=(lints, placeholders("x"), same_result_or(tensor_free), opcodes(*SIX), no_dead_nodes),
    ),
    Exercise(
        id="01-rotate-half",
        use="build",
        cases=(Case("rotation", RotateHalf, lambda: (torch.randn(2, 3, 4),)),),
        properties=(
            lints,
            placeholders("x"),
            same_result_or(
                look("01_node_creation#too-many-arguments-for-an-operator", brackets_take_two),
                in_last_dimension,
            ),
            no_dead_nodes,
        ),
    ),
    Exercise(
        id="01-linear-apart",
        use="build",
        given=eager,
        cases=(
            Case("a linear layer", lambda: nn.Linear(4, 3), rows(4)),
            Case("a linear layer without a bias", lambda: nn.Linear(5, 2, bias=False), rows(5), unseen=True),
        ),
        properties=(
            look("01_node_creation#found-by-lint", lints),
            recompiled,
            every_node(no_module_called),
            same_result_or(tensor_free),
            has_node("get_attr"),
            shares_weights,
            no_dead_nodes,
        ),
        returns=("GraphModule",),
    ),
    Exercise(
        id="01-find-adds",
        use="compute",
        given=lambda model: (fx.symbolic_trace(model),),
        cases=(
            Case("the residual block", Residual, rows(4)),
            Case("the block of many sums", ManySums, rows(4), unseen=True, given=many_sums),
        ),
        properties=(
            finds(
                {
                    "the residual block": ("add", "add_1", "add_2"),
                    "the block of many sums": ("add_1", "add_2", "add_", "add_5", "iadd"),
                }
            ),
        ),
    ),
    Exercise(
        id="01-lift-constants",
        use="edit",
        given=scale_and_shift_by_hand,
        cases=(
            Case("the scale and shift", ScaleAndShift, rows(3)),
            Case("the padded rows", Padded, rows(3, 2), unseen=True, given=padded_by_hand),
        ),
        properties=(
            every_node(no_tensor_argument),
            lints,
            recompiled,
            same_result,
            fetches_weights,
            no_dead_nodes,
            edited,
        ),
    ),
    Exercise(
        id="01-unroll-sequential",
        use="pass",
        cases=(
            Case("the MLP", lambda: trained(mlp()), rows(4)),
            Case("the nested model", lambda: trained(nested()), rows(4), unseen=True),
        ),
        properties=(
            lints,
            recompiled,
            every_node(no_module_called),
            same_result_or(tensor_free, each_layer_called, settings_kept),
            opcodes("placeholder", "get_attr", "call_function", "output"),
            shares_weights,
            keeps_names,
            no_dead_nodes,
        ),
    ),
)
