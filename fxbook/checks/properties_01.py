"""What the exercises of chapter 01 demand of nodes that were made by hand, and of what they fetch."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from fxbook.asking.families import ADD, LAYER_NORM, LINEAR, MUL, NEG, SUB, TANH, Family, family
from fxbook.asking.predicates import calls, calls_before
from fxbook.asking.rule import Violation
from fxbook.asking.values import kind_of
from fxbook.asking.view import CaseView
from fxbook.checks.legacy import first_violation
from fxbook.graph.record import JSON, NodeRecord

_HERE = "01_node_creation"
LEAKY_RELU = family("leaky_relu", modules=(nn.LeakyReLU,))
CAT = family("cat", "concat", "concatenate")
_TURNS = NEG | MUL | SUB


# ---- finding nodes ---------------------------------------------------------------------------------------------------


def adds(node: NodeRecord) -> bool:
    """Whether the node computes the sum of two values, as they are."""
    alpha = dict(node.kwargs["dict"]).get("alpha", 1)
    return node.op != "call_module" and node in ADD and alpha == 1


def finds(case: CaseView) -> Violation | None:
    """The answer is the list of the nodes that add."""
    wanted, listed = [node.name for node in case.before if adds(node)], case.value
    nodes = listed.get("tuple") if isinstance(listed, dict) else listed
    if not isinstance(nodes, list):
        return Violation(f"The answer is {kind_of(listed)}: a list of nodes was asked.")
    other = next((item for item in nodes if not isinstance(item, dict) or "node" not in item), None)
    if other is not None:
        return Violation(f"The answer holds {kind_of(other)}: a list of nodes was asked.")
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


# ---- one expression each ---------------------------------------------------------------------------------------------


def sum_then_norm_then_tanh(case: CaseView) -> Violation | None:
    """The layer reads the sum, and tanh the layer."""
    total, layer = ADD.called("the sum of `x` and `bias`"), LAYER_NORM.called("the layer `norm`")
    return first_violation(case, (calls(TANH), calls_before(total, layer), calls_before(layer, TANH)))


def brackets_take_two(case: CaseView) -> Violation | None:
    """``[]`` has one index: what follows it among the arguments vanishes from the code."""
    for node in case.nodes:
        count = len(_items(node.args))
        if node.target == "operator.getitem" and count > 2:
            said = f"Node `{node.name}` has {count} arguments: the code of `[]` has room for two, the rest is left out."
            return Violation(said, node.index, f"{_HERE}#too-many-arguments-for-an-operator")
    return None


def pieces_in_a_list(case: CaseView) -> Violation | None:
    """``cat`` gets one list."""
    for node in case.nodes:
        items = _items(node.args)
        if node in CAT and items and isinstance(items[0], dict) and "node" in items[0]:
            return Violation(f"Node `{node.name}` gets its pieces one by one: it takes them as one list.", node.index)
    return None


def in_last_dimension(case: CaseView) -> Violation | None:
    """Slices and ``cat`` work on the last of the three dimensions of ``x``."""
    for node in case.nodes:
        items = _items(node.args)
        slices = _index(node)
        if any(isinstance(item, dict) and "slice" in item for item in slices):
            whole = any(isinstance(item, dict) and item.get("constant") == "ellipsis" for item in slices)
            if not whole and len(slices) < 3:
                said = f"Node `{node.name}` cuts dimension {len(slices) - 1} of `x`, which has 3: the last was asked."
                return Violation(said, node.index)
        named = dict(node.kwargs.get("dict", ()))
        dim = named.get("dim", items[1] if len(items) > 1 else 0)
        if node in CAT and isinstance(dim, int) and dim not in (-1, 2):
            return Violation(f"Node `{node.name}` joins along dimension {dim}: the last was asked.", node.index)
    return None


def negated_half_first(case: CaseView) -> Violation | None:
    """The sign of the second half is turned, and that half comes first."""
    if not any(node in _TURNS for node in case.nodes):
        return Violation("No node turns the sign of a half.")
    for node in case.nodes:
        halves = [item["slice"] for read in node.inputs[:1] for item in _index(case.nodes[read]) if "slice" in item]
        if node in _TURNS and halves and halves[-1][0] in (None, 0) and halves[-1][1] is not None:
            message = f"Node `{node.name}` turns the sign of the first half of the columns: the second was asked."
            return Violation(message, node.index)
        if node in CAT and node.inputs and case.nodes[node.inputs[0]] not in _TURNS:
            first = case.nodes[node.inputs[0]].name
            message = f"Node `{node.name}` begins with `{first}`: the negated half was to come first."
            return Violation(message, node.index)
    return None


def _index(node: NodeRecord) -> list[JSON]:
    """The parts of the index of a node that stands for square brackets; those that are data of their own."""
    items = _items(node.args)
    if node.target != "operator.getitem" or len(items) != 2:
        return []
    index = _items(items[1]) if isinstance(items[1], dict) and "tuple" in items[1] else [items[1]]
    return [item for item in index if isinstance(item, dict)]


def _items(args: JSON) -> list[JSON]:
    return args.get("tuple", []) if isinstance(args, dict) else args


# ---- weights and constants -------------------------------------------------------------------------------------------


def no_module_called(case: CaseView) -> Violation | None:
    """No node calls a module."""
    called = next((node for node in case.nodes if node.op == "call_module"), None)
    return Violation(f"Node `{called.name}` calls the module `{called.target}`.", called.index) if called else None


def fetches_each_weight(case: CaseView) -> Violation | None:
    """A ``get_attr`` for each parameter of the layer that was given."""
    fetched = {node.target.rpartition(".")[2] for node in case.nodes if node.op == "get_attr"}
    for name, _ in case.model.named_parameters():
        if name not in fetched:
            return Violation(f"No node fetches `{name}`, which the layer has.")
    return None


def fetches_buffers(case: CaseView) -> Violation | None:
    """Each ``get_attr`` that is new fetches a buffer, which ``state_dict`` holds and training leaves alone."""
    for node in case.nodes:
        if node.op == "get_attr" and node.target not in case.shared:
            message = f"Node `{node.name}` fetches `{node.target}`, which is neither a parameter nor a buffer."
            anchor = "attempted-to-insert-a-get_attr-node-with-no-underlying-reference"
            return Violation(message, node.index, f"{_HERE}#{anchor}")
        if node.op == "get_attr" and node.target not in case.weights and node.kind == "torch.nn.Parameter":
            return Violation(
                f"Node `{node.name}` fetches `{node.target}`, a parameter: a buffer was asked.", node.index
            )
    return None


def a_home_each(case: CaseView) -> Violation | None:
    """No two nodes fetch one buffer, where they stand for two tensors."""
    fetching: dict[str, NodeRecord] = {}
    for node in case.nodes:
        if node.op == "get_attr" and node.target in fetching and node.target not in case.weights:
            first = fetching[node.target].name
            message = f"Nodes `{first}` and `{node.name}` both fetch `{node.target}`: one tensor has replaced another."
            return Violation(message, node.index)
        fetching[node.target] = node
    return None


def own_weights_stay(case: CaseView) -> Violation | None:
    """What the module had under a name is what it has under it now."""
    for node, origin in zip(case.nodes, case.origins, strict=True):
        if node.op == "get_attr" and origin is None and node.target in case.weights:
            message = f"Node `{node.name}` fetches `{node.target}`, a name that the module used already."
            return Violation(message, node.index)
    return None


def keeps_names(case: CaseView) -> Violation | None:
    """The parameters of the result have the names that they have in the model."""
    given = set(dict(case.model.named_parameters(remove_duplicate=False)))
    found = set(case.shared)
    if extra := sorted(found - given):
        return Violation(f"The result has a parameter `{extra[0]}`, which the model does not have.")
    if missing := sorted(given - found):
        return Violation(f"The result has no parameter `{missing[0]}`: the model's checkpoint does not load.")
    return None


# ---- layers as functions ---------------------------------------------------------------------------------------------


def each_layer_called(case: CaseView) -> Violation | None:
    """As many calls of each kind of layer as the model makes."""
    for kind, layers in _layers(case):
        done = sum(node in kind for node in case.nodes)
        if done >= len(layers):
            continue
        again = [path for at, (path, layer) in enumerate(layers) if layer in [seen for _, seen in layers[:at]]]
        inner = [path for path, _ in layers if "." in path]
        why = ""
        if again and done == len(layers) - len(again):
            why = f": its layer `{again[0]}` is an earlier one, called once more"
        elif inner and done <= len(layers) - len(inner):
            why = f": its layer `{inner[0]}` stands inside another Sequential"
        calls_made = f"{done} {'call' if done == 1 else 'calls'}"
        return Violation(f"The graph has {calls_made} of {kind.label}, the model {len(layers)}{why}.")
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
