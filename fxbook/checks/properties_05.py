"""What the exercises of chapter 05 demand; each fault is told with its node and where to read."""

from __future__ import annotations

import builtins
import inspect
import json
from collections import Counter

import torch
from torch import fx

from fxbook.asking.families import family
from fxbook.asking.rule import Violation
from fxbook.asking.values import Value, dict_items, difference
from fxbook.asking.view import CaseView
from fxbook.checks.models_05 import Fixable, Whole
from fxbook.checks.verdicts_05 import truth_of
from fxbook.graph.record import GraphRecord, NodeRecord

_FIXED = "05_control_flow_limits#fix-an-argument-concrete_args"
_VERDICTS = ("stops", "differs", "same")
_COMPARISON = family("gt", "ge", "lt", "le", "greater", "greater_equal", "less", "less_equal")
_MEAN = family("mean")
# Operators of torch.ops in these spaces are torch's own.
_TORCHS_OWN = ("aten", "prims", "prim", "higher_order", "profiler", "inductor")


def right_verdict(case: CaseView) -> Violation | None:
    """The word returned is what is true of the function that was given."""
    name, truth = case.case.name, truth_of(*case.arguments)
    if case.value not in _VERDICTS:
        words = ", ".join(repr(word) for word in _VERDICTS)
        return Violation(f"For {name} your function returns no verdict: one of {words} was asked.")
    if case.value == truth.verdict:
        return None
    return Violation(f"Of {name} you say {case.value!r}, but {truth.why}.", look=truth.look)


# ---- an argument that is fixed ---------------------------------------------------------------------------------------


def _guards(graph: GraphRecord) -> list[NodeRecord]:
    """The nodes with which tracing checks an argument that was fixed."""
    said = "has been specialized to have value"
    return [node for node in graph if node.target.endswith("_assert_is_none") or said in json.dumps(node.args)]


def argument_gone(case: CaseView) -> Violation | None:
    """The argument that was fixed is no input, the others are as they were, and no guard is left."""
    model = case.model
    assert isinstance(model, Fixable)
    inputs = {node.target: node for node in case.nodes if node.op == "placeholder"}
    for name in (model.name, f"{model.name}_1"):
        if name in inputs:
            return Violation(f"`{name}` is still an input: the value was to be fixed.", inputs[name].index)
    if guards := _guards(case.graph) if case.graph else []:
        message = f"Node `{guards[0].name}` still checks the argument, which is no input any more."
        return Violation(message, guards[0].index)
    if gone := next((name for name in model.left if name not in inputs), None):
        return Violation(f"The input `{gone}` is gone: `{model.name}` alone was to be taken out.")
    if tuple(inputs) != model.left:
        found, asked = (", ".join(f"`{name}`" for name in names) for names in (inputs, model.left))
        return Violation(f"The result takes {found}: {asked} was asked.")
    return None


def rest_untouched(case: CaseView) -> Violation | None:
    """The other inputs keep their defaults, and what the model itself checks is still checked."""
    model = case.model
    assert isinstance(model, Fixable)
    parameters = inspect.signature(model.forward).parameters
    for node in case.nodes:
        has_default = node.op == "placeholder" and parameters[node.target].default is not inspect.Parameter.empty
        if has_default and node.args == {"tuple": []}:
            return Violation(f"The input `{node.target}` has lost its default: it was to stay.", node.index)
    texts = [json.dumps(node.args) for node in case.nodes]
    for node in fx.symbolic_trace(model, concrete_args={model.name: model.value}).graph.nodes:
        own_check = node.target is torch._assert and "has been specialized" not in str(node.args[1])
        if own_check and not any(str(node.args[1]) in text for text in texts):
            return Violation(f"The model's own check, “{node.args[1]}”, is gone: that of the argument alone was to go.")
    return None


def nothing_fixed(case: CaseView) -> Violation | None:
    """No argument was fixed on the way."""
    guards = _guards(case.graph) if case.graph else []
    if not guards:
        return None
    message = f"Node `{guards[0].name}` checks an argument that was fixed while tracing: none was to be."
    return Violation(message, guards[0].index, _FIXED)


# ---- one function kept whole, or none --------------------------------------------------------------------------------


def _is_own(node: NodeRecord) -> bool:
    """Whether the node calls a Python function, or an operator, that is neither torch's nor Python's."""
    if node.op != "call_function":
        return False
    if node.target.startswith("torch.ops."):
        return node.target.split(".")[2] not in _TORCHS_OWN
    return not node.target.startswith(("torch.", "operator.", "math.")) and not hasattr(builtins, node.target)


def _is_opaque(node: NodeRecord) -> bool:
    return node.op == "call_module" and not (node.kind or "").startswith("torch.")


def one_own_call(case: CaseView) -> Violation | None:
    """One function of the learner's own is kept as one call, on what the layers of the model give."""
    own = [node for node in case.nodes if _is_own(node)]
    whole = next((node for node in case.nodes if _is_opaque(node)), None)
    if not own and whole:
        return Violation(f"Node `{whole.name}` keeps a module whole: a function was asked.", whole.index)
    if not own:
        return Violation("No node calls a function of your own: one that is kept whole was asked.")
    if len(own) > 1:
        message = f"{len(own)} nodes call functions of your own: one, for the whole sharpening, was asked."
        return Violation(message, own[1].index)
    outside = _weights_before(case, own[0])
    layer = next((name.partition(".")[0] for name in sorted(case.weights) if name not in outside), None)
    if layer:
        message = f"Node `{own[0].name}` does the work of `{layer}` too: the sharpening alone was to be in it."
        return Violation(message, own[0].index)
    return None


def _weights_before(case: CaseView, node: NodeRecord) -> set[str]:
    """The weights of the model, by their names there, that nodes use on the way to this one."""
    found: set[str] = set()
    met: set[int] = set()
    waiting = list(node.inputs)
    while waiting:
        read = case.nodes[waiting.pop()]
        if read.index in met:
            continue
        met.add(read.index)
        waiting += read.inputs
        for name, origin in case.shared.items():
            used = read.op == "call_module" and name.startswith(f"{read.target}.")
            if origin and (used or (read.op == "get_attr" and name == read.target)):
                found.add(origin)
    # A weight that is handed to the function is used in it.
    return found - {
        origin
        for index in node.inputs
        if case.nodes[index].op == "get_attr" and (origin := case.shared.get(case.nodes[index].target))
    }


def open_to_passes(case: CaseView) -> Violation | None:
    """Every step is a node: no function and no module of the learner's own is kept whole."""
    for node in case.nodes:
        if _is_own(node):
            return Violation(f"Node `{node.name}` calls `{node.target}`, which no pass can look into.", node.index)
        if _is_opaque(node):
            message = f"Node `{node.name}` keeps a `{node.kind}` whole: every step was to be a node."
            return Violation(message, node.index)
    return None


def traced_symbolically(case: CaseView) -> Violation | None:
    """The graph is none of another front end, whose calls are all operators of aten."""
    calls = [node for node in case.nodes if node.op == "call_function"]
    if not calls or not all(node.target.startswith("torch.ops.") and not _is_own(node) for node in calls):
        return None
    message = f"Node `{calls[0].name}` calls an operator of aten, as another front end records it: `fx.symbolic_trace` "
    return Violation(f"{message}was asked.", calls[0].index, "05_control_flow_limits#one-model-four-graphs")


def kept_whole(case: CaseView) -> Violation | None:
    """Modules of the kind asked for are one call each, torch's layers too, and nothing else is."""
    assert isinstance(case.model, Whole)
    calls = [node for node in case.nodes if node.op == "call_module"]
    other = next((node for node in calls if node.kind not in case.model.calls), None)
    if other:
        return Violation(f"Node `{other.name}` keeps a `{other.kind}` whole, which was not asked.", other.index)
    found = Counter(node.kind for node in calls)
    for kind, asked in case.model.calls.items():
        if found[kind] != asked:
            times = f"{asked} time{'' if asked == 1 else 's'}"
            # Behind a layer that was traced into, its weights are fetched one by one.
            fetched = next((node.index for node in case.nodes if node.op == "get_attr"), None)
            return Violation(
                f"`{kind}` is called {found[kind]} times: it was to stay whole, {times}.",
                fetched if kind.startswith("torch.") else None,
            )
    return None


# ---- what a result does, where running it tells all: its result, its batch afterwards, its gradients -----------------


def _part(value: Value, key: str) -> Value:
    return dict_items(value)[repr(key)]


def _own_or_output(case: CaseView) -> int | None:
    own = next((node.index for node in case.nodes if _is_own(node)), None)
    return next((node.index for node in case.nodes if node.op == "output"), None) if own is None else own


def decides_once(case: CaseView) -> Violation | None:
    """A diagnosis of wrong numbers: each element, or each row, is decided for itself."""
    for node in case.nodes:
        if node in _COMPARISON and any(case.nodes[index].op == "placeholder" for index in node.inputs):
            message = f"Node `{node.name}` asks about each element: the mean of the whole tensor was to decide."
            return Violation(message, node.index)
        if node in _MEAN and (len(node.positional) > 1 or node.kwargs["dict"]):
            message = f"Node `{node.name}` takes the mean over some dimensions: that of the whole tensor was asked."
            return Violation(message, node.index)
    return None


def right_on_every_batch(case: CaseView) -> Violation | None:
    """The numbers are those of the model, on each kind of batch."""
    for found, expected in zip(case.outputs or [], case.expected, strict=True):
        differs = difference(_part(found, "result"), _part(expected, "result"))
        if differs == "it is None, a tensor was asked":
            node = next((node for node in case.nodes if _is_own(node)), None)
            who = f"The function that node `{node.name}` calls" if node else "The result"
            return Violation(f"{who} returns nothing (None): a tensor was asked.", node.index if node else None)
        if differs:
            why = "" if differs.startswith("it holds other") else f": {differs}"
            return Violation(f"On {case.case.name} the result is not what the model gives{why}.", _output(case))
    return None


def _output(case: CaseView) -> int | None:
    return next((node.index for node in case.nodes if node.op == "output"), None)


def batch_left_alone(case: CaseView) -> Violation | None:
    """The tensor that was passed holds the same numbers afterwards."""
    for found, expected in zip(case.outputs or [], case.expected, strict=True):
        if difference(_part(found, "batch"), _part(expected, "batch")):
            node = next((node for node in case.nodes if "in place" in node.notes), None)
            message = "Running the result overwrites the batch that was passed, which belongs to the caller."
            return Violation(message, node.index if node else _own_or_output(case))
    return None


def batch_left_alone_untraced(case: CaseView) -> Violation | None:
    """The function that was traced leaves its batch alone too: `x -= y` is recorded as `x - y`."""
    key = "batch of the answer itself"
    for found, expected in zip(case.outputs or [], case.expected, strict=True):
        if difference(_part(found, key), _part(expected, key)):
            node = next((node.index for node in case.nodes if node.target == "operator.sub"), None)
            message = "Your function overwrites the batch that it gets: its trace does not, but was to be the same."
            return Violation(message, node, "01_node_creation#four-spellings-of-add")
    return None


def gradients_kept(case: CaseView) -> Violation | None:
    """The gradients of the batch and of the weights are those of the model."""
    for found, expected in zip(case.outputs or [], case.expected, strict=True):
        ours, theirs = dict_items(_part(found, "gradients")), dict_items(_part(expected, "gradients"))
        name = next((name for name in theirs if difference(ours[name], theirs[name])), None)
        if name is not None:
            said = difference(ours[name], theirs[name], f"that of `{name[1:-1]}`")
            what = f"`{name[1:-1]}` gets none" if ours[name] is None else said
            cut = next((node.index for node in case.nodes if node.target in ("detach", "detach_")), None)
            message = f"The result is right, but its gradients are not those of the model: {what}."
            return Violation(message, _own_or_output(case) if cut is None else cut)
    return None
