"""What the exercises of chapter 00 ask: read a graph, change targets, and see what a trace keeps of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.checks.exercise import Case, Exercise, eager
from fxbook.checks.families import GELU, RELU, TANH, Family, family
from fxbook.checks.models_00 import Classifier, Dense, FourSpellings, NamedRelu, Recurrent, Residual, Tagger, Tied
from fxbook.checks.predicates import (
    calls,
    edited,
    every_node,
    input_unchanged,
    lints,
    look,
    no_dead_nodes,
    none_left,
    recompiled,
    same_result_or,
    shares_weights,
)
from fxbook.checks.values import Value
from fxbook.checks.view import CaseView, Violation
from fxbook.record import NodeRecord

LEAKY_RELU = family("leaky_relu", modules=(nn.LeakyReLU,))
# What swap_targets is to change, and what is to stay: a submodule is no target of the table.
CALLED_RELU = family("relu")
RELU_MODULE = Family("the submodule `relu`, which is to stay", modules=RELU.modules)
SWAPS: dict[Any, Any] = {"relu": "tanh", torch.relu: torch.tanh}


UNUSED = {
    Classifier: ["auxiliary.bias", "auxiliary.weight"],
    Recurrent: ["unused.bias", "unused.weight"],
    Tied: ["spare.bias", "spare.weight"],
    Tagger: ["spare.bias", "spare.weight", "spare_norm.bias", "spare_norm.weight"],
    Dense: [],
}


def traced_and(*more: Any) -> Callable[[nn.Module], tuple[Any, ...]]:
    """The answer is called with the traced model and something else."""
    return lambda module: (fx.symbolic_trace(module), *more)


def names_in(value: Value, nodes: bool = False) -> list[str] | Violation:
    """What the answer returned, as names: a list, tuple or set of strings, or of nodes where these will do."""
    match value:
        case list(items) | {"tuple": list(items)} | {"set": list(items)}:
            names = [item["node"] if nodes and isinstance(item, dict) and "node" in item else item for item in items]
            if all(isinstance(name, str) for name in names):
                return names
    return Violation("The answer is not a list of names.")


def layers_in_order(case: CaseView) -> Violation | None:
    """The answer is the targets of the ``call_module`` nodes, in list order."""
    asked = [node for node in case.before if node.op == "call_module"]
    found = names_in(case.value)
    if isinstance(case.value, dict) and "set" in case.value:
        return Violation("The answer is a set, which has no order: a list was asked.")
    if isinstance(found, Violation):
        return found
    for place, (name, right) in enumerate(zip(found, asked, strict=False)):
        if name == right.target:
            continue
        if name == right.name:
            return Violation(f"Item {place} of the answer is `{name}`, the name of the node; the path is its target.")
        if right.target.startswith(f"{name}."):
            return Violation(f"Item {place} of the answer is `{name}`, a container, which counts as no call.")
        return Violation(f"Item {place} of the answer is `{name}`: the model calls another submodule there.")
    if len(found) != len(asked):
        return Violation(f"The length of the answer is {len(found)}: the model makes {len(asked)} calls of submodules.")
    return None


def readers(case: CaseView) -> Violation | None:
    """The answer names the nodes that read the node asked about, each once, in any order."""
    _, name = case.arguments
    read = case.before.named(name)
    asked = {case.before.nodes[user].name for user in read.users} if read else set()
    found = names_in(case.value, nodes=True)
    return _same_names(found, asked, f"does not read `{name}`", f"nodes that read `{name}`")


def unused_parameters(case: CaseView) -> Violation | None:
    """The answer names the parameters that no call reaches, each once, in any order."""
    asked = set(UNUSED[type(case.model)])
    found = names_in(case.value["tuple"][0])
    if isinstance(found, list):
        if set(found) >= {name for name, _ in case.model.named_parameters()}:
            return Violation("All parameters are listed: do you compare a copy with the original?")
        tied = next((name for name in found if name not in asked and name in _names_of_tied(case.model)), None)
        if tied is not None:
            message = f"`{tied}` is in the answer, but the parameter is stored under another name too, which is used."
            return Violation(message)
    return _same_names(found, asked, "is not an unused parameter of the model", "unused parameters")


def answer_and_traces(answer: Callable[..., Any], model: nn.Module) -> tuple[Any, list[str], list[str]]:
    """What the answer returns, the names of what the model holds afterwards, and of its parameters with a gradient."""
    returned = answer(model)
    with_gradient = [name for name, parameter in model.named_parameters() if parameter.grad is not None]
    return returned, sorted(vars(model)), with_gradient


def nothing_stored(case: CaseView) -> Violation | None:
    """The model has no attribute that it did not have, not even a constant that the tracer put there."""
    held = case.value["tuple"][1]
    new = next((name for name in held if name not in vars(case.model)), None)
    return Violation(f"The model that was given has a new attribute, `{new}`.") if new else None


def no_gradient(case: CaseView) -> Violation | None:
    """No parameter of the model has a gradient: none had one before."""
    filled = case.value["tuple"][2]
    return Violation(f"The model that was given has been changed: `{filled[0]}` has a gradient.") if filled else None


def target_fits_op(node: NodeRecord) -> str | None:
    """What a node calls is of the kind that its opcode says; told before ``lint``, which speaks of types."""
    if node.op == "call_method" and "." in node.target:
        return f"Node `{node.name}` is a `call_method`, but its target is a function, not the name of a method."
    if node.op == "call_module" and node.kind is None:
        return f"Node `{node.name}` is a `call_module`: its target is a path, and no submodule is at `{node.target}`."
    return None


def submodule_stays(case: CaseView) -> Violation | None:
    """The submodule that is called ``relu`` is still called."""
    return calls(RELU_MODULE)(case) if isinstance(case.model, NamedRelu) else None


def given_edited(case: CaseView) -> Violation | None:
    """The module given was edited, and is what the answer returned."""
    if case.same_object:
        return None
    if case.changes:
        return Violation("The result is another module than the one that was given, which was to be edited.")
    return Violation("You edited a copy: the module that you were given still calls relu.")


def leaky_stays(case: CaseView) -> Violation | None:
    """The one function whose name ends in relu and which is not ReLU is still called."""
    return calls(LEAKY_RELU)(case) if isinstance(case.model, Residual) else None


def _names_of_tied(model: nn.Module) -> set[str]:
    """The names, all of them, of the parameters that are stored under more than one."""
    named = list(model.named_parameters(remove_duplicate=False))
    objects = [id(parameter) for _, parameter in named]
    return {name for name, parameter in named if objects.count(id(parameter)) > 1}


def _same_names(found: list[str] | Violation, asked: set[str], objection: str, what: str) -> Violation | None:
    if isinstance(found, Violation):
        return found
    wrong = next((name for name in found if name not in asked), None)
    if wrong is not None:
        return Violation(f"`{wrong}` is in the answer, but {objection}.")
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        return Violation(f"`{twice}` is in the answer more than once.")
    if len(found) != len(asked):
        return Violation(f"The answer names {len(found)} of the {len(asked)} {what}.")
    return None


def with_tanh(model: nn.Module, x: Tensor) -> Tensor:
    """The model with ``tanh`` for each relu that ``SWAPS`` names."""
    if isinstance(model, NamedRelu):
        kept = torch.relu(model.mix(x))
        return torch.tanh(kept - 0.3) + torch.tanh(model.mix(kept) - 0.1)
    assert isinstance(model, Classifier)
    return (model.head(torch.tanh(model.hidden(x))) / model.temperature).softmax(dim=-1)


def with_gelu(model: nn.Module, x: Tensor) -> Tensor:
    """The model with GELU for each ReLU."""
    if isinstance(model, FourSpellings):
        for layer in model.layers:
            x = nn.functional.gelu(layer(x))
        return x
    if isinstance(model, Residual):
        x = nn.functional.gelu(model.enter[0](x))
        for _ in range(2):
            x = x + model.block[2](nn.functional.gelu(model.block[0](x)))
        return nn.functional.leaky_relu(model.relu(nn.functional.gelu(x)), 0.2)
    assert isinstance(model, Classifier)
    return (model.head(nn.functional.gelu(model.hidden(x))) / model.temperature).softmax(dim=-1)


def rows(width: int, count: int = 3) -> Callable[[], tuple[Tensor]]:
    """One input: ``count`` rows of ``width`` numbers."""
    return lambda: (torch.randn(count, width),)


EXERCISES = (
    Exercise(
        id="00-layers-in-order",
        use="compute",
        given=eager,
        cases=(
            Case("the classifier of the chapter", Classifier, rows(4)),
            Case("a model that calls a layer twice", Recurrent, rows(4), unseen=True),
        ),
        properties=(layers_in_order,),
    ),
    Exercise(
        id="00-readers",
        use="compute",
        cases=(
            Case("`relu` of the classifier", Classifier, rows(4), given=traced_and("relu")),
            Case("`block` of a dense block", Dense, rows(4), unseen=True, given=traced_and("block")),
            Case("`x` of a dense block", Dense, rows(4), unseen=True, given=traced_and("x")),
            Case("`cat_1` of a dense block", Dense, rows(4), unseen=True, given=traced_and("cat_1")),
        ),
        properties=(readers,),
    ),
    Exercise(
        id="00-swap-targets",
        use="edit",
        given=traced_and(SWAPS),
        cases=(
            Case("the classifier of the chapter", Classifier, rows(4)),
            Case("a model with a submodule called `relu`", NamedRelu, rows(4), unseen=True),
        ),
        expected=with_tanh,
        properties=(
            every_node(target_fits_op),
            lints,
            look("00_first_graph#change-one-node", recompiled),
            same_result_or(none_left(CALLED_RELU), calls(TANH), submodule_stays),
            edited,
            given_edited,
            shares_weights,
        ),
    ),
    Exercise(
        id="00-unused-parameters",
        use="compute",
        given=eager,
        cases=(
            Case("the classifier of the chapter", Classifier, rows(4)),
            Case("a model that uses all it has", Dense, rows(4)),
            Case("a model that calls a layer twice", Recurrent, rows(4), unseen=True),
            Case("a model with tied weights and a constant", Tied, rows(4), unseen=True),
            Case("a model that takes tokens", Tagger, lambda: (torch.randint(10, (2, 5)),), unseen=True),
        ),
        call=answer_and_traces,
        properties=(unused_parameters, input_unchanged, nothing_stored, no_gradient),
    ),
    Exercise(
        id="00-relu-to-gelu",
        use="pass",
        cases=(
            Case("the classifier of the chapter", Classifier, rows(4)),
            Case("an MLP with four spellings", FourSpellings, rows(6)),
            Case("a residual network", Residual, rows(5), unseen=True),
        ),
        expected=with_gelu,
        properties=(
            every_node(target_fits_op),
            lints,
            look("00_first_graph#change-one-node", recompiled),
            same_result_or(none_left(RELU), calls(GELU), leaky_stays),
            no_dead_nodes,
            input_unchanged,
            shares_weights,
        ),
    ),
)
