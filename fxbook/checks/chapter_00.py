"""What the exercises of chapter 00 ask: read a graph, change targets, and see what a trace keeps of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.checks.exercise import Case, Exercise, eager
from fxbook.checks.families import GELU, RELU, TANH, family
from fxbook.checks.predicates import (
    calls,
    edited,
    input_unchanged,
    lints,
    look,
    no_dead_nodes,
    none_left,
    recompiled,
    same_result_or,
    shares_weights,
)
from fxbook.checks.view import CaseView, Violation
from fxbook.values import Value

LEAKY_RELU = family("leaky_relu", modules=(nn.LeakyReLU,))
SWAPS: dict[Any, Any] = {"relu": "tanh", torch.relu: torch.tanh}


class Classifier(nn.Module):
    """The classifier of the chapter; ``auxiliary`` is used by nothing."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.hidden = nn.Linear(4, width)
        self.head = nn.Linear(width, 3)
        self.auxiliary = nn.Linear(width, 1)
        self.temperature = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: Tensor) -> Tensor:
        features = self.hidden(x).relu()
        return (self.head(features) / self.temperature).softmax(dim=-1)


class Recurrent(nn.Module):
    """Layers that run in another order than they are defined in: one twice, one never, one inside a block."""

    def __init__(self) -> None:
        super().__init__()
        self.decode = nn.Linear(6, 4)
        self.unused = nn.Linear(6, 6)
        self.encode = nn.Sequential(nn.Linear(4, 6), nn.Tanh())
        self.step = nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        state = self.encode(x)
        return self.decode(self.step(self.step(state)))


class Dense(nn.Module):
    """A value read by four nodes: twice by one of them, inside a list by another, by name by a third."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        features = self.block(x)
        doubled = features + features
        joined = torch.cat([x, features], dim=-1)
        gated = torch.mul(input=doubled, other=features)
        return torch.cat([joined, gated.relu(), features.tanh()], dim=-1)


class NamedRelu(nn.Module):
    """Two calls to be changed, in two spellings, and a submodule of the same name that is to stay."""

    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        kept = self.relu(self.mix(x))
        return torch.relu(kept - 0.3) + (self.mix(kept) - 0.1).relu()


class Tied(nn.Module):
    """Two layers with one weight, of which the second is called; a constant made in ``forward``."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(4, 4, bias=False)
        self.decoder = nn.Linear(4, 4, bias=False)
        self.decoder.weight = self.encoder.weight
        self.spare = nn.Linear(4, 4)
        self.gain = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(x) * self.gain - torch.tensor([0.5, 0.5, 0.5, 0.5])


class FourSpellings(nn.Module):
    """An MLP with ReLU as method, torch function, functional and module."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))
        self.activation = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        first, second, third, fourth = self.layers
        x = first(x).relu()
        x = torch.relu(second(x))
        x = nn.functional.relu(third(x))
        return self.activation(fourth(x))


class Residual(nn.Module):
    """Blocks of their own with a ReLU inside, one called twice; a leaky ReLU, which is to stay."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Sequential(nn.Linear(5, 5), nn.ReLU(inplace=True))
        self.block = nn.Sequential(nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, 5))
        self.relu = nn.Linear(5, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.enter(x)
        x = x + self.block(x)
        x = x + self.block(x)
        return nn.functional.leaky_relu(self.relu(nn.functional.relu(x, inplace=True)), 0.2)


UNUSED = {
    Classifier: ["auxiliary.bias", "auxiliary.weight"],
    Recurrent: ["unused.bias", "unused.weight"],
    Tied: ["spare.bias", "spare.weight"],
    Dense: [],
}


def traced_and(*more: Any) -> Callable[[nn.Module], tuple[Any, ...]]:
    """The answer is called with the traced model and something else."""
    return lambda module: (fx.symbolic_trace(module), *more)


def names_in(value: Value) -> list[str] | Violation:
    """What the answer returned, as names; a list, tuple or set of strings or nodes will do."""
    match value:
        case list(items) | {"tuple": list(items)} | {"set": list(items)}:
            names = [item["node"] if isinstance(item, dict) and "node" in item else item for item in items]
            if all(isinstance(name, str) for name in names):
                return names
    return Violation("The answer is not a list of names.")


def layers_in_order(case: CaseView) -> Violation | None:
    """The answer is the targets of the ``call_module`` nodes, in list order."""
    asked = [node.target for node in case.before if node.op == "call_module"]
    found = names_in(case.value)
    if isinstance(found, Violation):
        return found
    for place, (name, right) in enumerate(zip(found, asked, strict=False), start=1):
        if name != right:
            return Violation(f"Call {place} of the answer is `{name}`: the model calls another submodule there.")
    if len(found) != len(asked):
        return Violation(f"The answer lists {len(found)} calls of submodules: the model makes {len(asked)}.")
    return None


def readers(case: CaseView) -> Violation | None:
    """The answer names the nodes that read the node asked about, each once, in any order."""
    _, name = case.arguments
    read = case.before.named(name)
    asked = {case.before.nodes[user].name for user in read.users} if read else set()
    return _same_names(case.value, asked, f"does not read `{name}`", f"nodes that read `{name}`")


def unused_parameters(case: CaseView) -> Violation | None:
    """The answer names the parameters that no call reaches, each once, in any order."""
    asked = set(UNUSED[type(case.model)])
    names, _ = case.value["tuple"]
    return _same_names(names, asked, "is not an unused parameter of the model", "unused parameters")


def answer_and_attributes(answer: Callable[..., Any], model: nn.Module) -> tuple[Any, list[str]]:
    """What the answer returns, and the names of what the model holds afterwards."""
    return answer(model), sorted(vars(model))


def nothing_stored(case: CaseView) -> Violation | None:
    """The model has no attribute that it did not have, not even a constant that the tracer put there."""
    _, held = case.value["tuple"]
    new = next((name for name in held if name not in vars(case.model)), None)
    return Violation(f"The model that was given has a new attribute, `{new}`.") if new else None


def leaky_stays(case: CaseView) -> Violation | None:
    """The one function whose name ends in relu and which is not ReLU is still called."""
    return calls(LEAKY_RELU)(case) if isinstance(case.model, Residual) else None


def _same_names(value: Value, asked: set[str], objection: str, what: str) -> Violation | None:
    found = names_in(value)
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
            lints,
            look("00_first_graph#change-one-node", recompiled),
            same_result_or(calls(TANH)),
            edited,
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
        ),
        call=answer_and_attributes,
        properties=(unused_parameters, input_unchanged, nothing_stored),
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
            lints,
            look("00_first_graph#change-one-node", recompiled),
            same_result_or(none_left(RELU), calls(GELU), leaky_stays),
            no_dead_nodes,
            input_unchanged,
            shares_weights,
        ),
    ),
)
