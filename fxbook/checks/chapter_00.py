"""What the exercises of chapter 00 ask: read a graph, change targets, and see what a trace keeps of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.asking.exercise import Case, eager, one_of
from fxbook.asking.explained import given_edited, methods_exist
from fxbook.asking.families import GELU, RELU, TANH, family
from fxbook.asking.predicates import calls, edited, input_unchanged, no_dead_nodes, none_left, shares_weights
from fxbook.checks.legacy import Exercise, compiled, same_result_or, well_formed
from fxbook.checks.models_00 import (
    Classifier,
    Dense,
    Drawn,
    FourSpellings,
    NamedRelu,
    Recurrent,
    Residual,
    Tagger,
    Tied,
)
from fxbook.checks.properties_00 import (
    answer_and_traces,
    layers_in_order,
    layers_stay,
    leaky_stays,
    no_gradient,
    no_keyword_of_relu,
    nothing_stored,
    readers,
    submodule_stays,
    target_fits_op,
    unused_parameters,
    what_it_lists,
)

# What swap_targets is to change, and what is to stay: a submodule is no target of the table.
CALLED_RELU = family("relu")
SWAPS: dict[Any, Any] = {"relu": "tanh", torch.relu: torch.tanh}


def traced_and(*more: Any) -> Callable[[nn.Module], tuple[Any, ...]]:
    """The answer is called with the traced model and something else."""
    return lambda module: (fx.symbolic_trace(module), *more)


def traced_and_a_node(module: nn.Module) -> tuple[Any, ...]:
    """The answer is called with the traced model and the name of one of its nodes."""
    traced = fx.symbolic_trace(module)
    return traced, one_of(*(node.name for node in traced.graph.nodes))


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
            Case("a model that calls a layer twice", Recurrent, rows(5), unseen=True),
            Case("a model with layers of its own", Drawn, rows(4), unseen=True),
        ),
        call=what_it_lists,
        properties=(layers_in_order,),
    ),
    Exercise(
        id="00-readers",
        use="compute",
        cases=(
            Case("`relu` of the classifier", Classifier, rows(4), given=traced_and("relu")),
            Case("`block` of a dense block", Dense, rows(4), unseen=True, given=traced_and("block")),
            Case("`x` of a dense block", Dense, rows(4), unseen=True, given=traced_and("x")),
            Case("`cat` of a dense block", Dense, rows(4), unseen=True, given=traced_and("cat")),
            Case("`cat_1` of a dense block", Dense, rows(4), unseen=True, given=traced_and("cat_1")),
            Case("a node of a model with layers of its own", Drawn, rows(4), unseen=True, given=traced_and_a_node),
        ),
        call=what_it_lists,
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
            target_fits_op,
            well_formed,
            compiled,
            same_result_or(none_left(CALLED_RELU), calls(TANH), submodule_stays),
            no_dead_nodes,
            edited,
            given_edited,
        ),
    ),
    Exercise(
        id="00-unused-parameters",
        use="compute",
        given=eager,
        cases=(
            Case("the classifier of the chapter", Classifier, rows(4)),
            Case("a model that uses all it has", Dense, rows(4)),
            Case("a model that calls a layer twice", Recurrent, rows(5), unseen=True),
            Case("a model with tied weights and a constant", Tied, rows(4), unseen=True),
            Case("a model that takes tokens", Tagger, lambda: (torch.randint(10, (2, 5)),), unseen=True),
            Case("a model with layers of its own", Drawn, rows(4), unseen=True),
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
            target_fits_op,
            well_formed,
            compiled,
            same_result_or(none_left(RELU), calls(GELU), methods_exist, no_keyword_of_relu, leaky_stays, layers_stay),
            no_dead_nodes,
            input_unchanged,
            shares_weights,
        ),
    ),
)
