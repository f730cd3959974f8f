"""What the exercises of chapter 06 ask: arguments changed wherever they stand, and work in place that is safe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.asking.exercise import Case, traced
from fxbook.asking.nameless import nameless_model
from fxbook.asking.predicates import edited, input_unchanged, new_object, no_dead_nodes, shares_weights
from fxbook.checks import models_06 as models
from fxbook.checks import pairs_06 as pairs
from fxbook.checks.differences_06 import told_apart
from fxbook.checks.in_place_06 import (
    SHARED,
    behaviour,
    layers_apart,
    nothing_missed,
    nothing_unsafe,
    same_behaviour_or,
    settings_kept,
    stays,
    watched,
)
from fxbook.checks.legacy import Exercise, compiled, look, same_result_or, well_formed
from fxbook.checks.properties_06 import (
    as_many_cats,
    asked,
    dims_found,
    dims_kept,
    input_in_every_cat,
    keep_where_a_dim_is,
    keywords_kept,
    no_argument_twice,
    no_default_left,
    only_sums_changed,
    others_kept,
)

if torch.distributed.is_available():
    # torch.testing imports it when it first compares: half of the time that an answer has.
    import torch.distributed.tensor


def rows(count: int = 1) -> Callable[[], tuple[Tensor, ...]]:
    """``count`` inputs of three rows of four."""
    return lambda: tuple(torch.randn(3, 4) for _ in range(count))


def model_and_changed(model: nn.Module) -> tuple[Any, ...]:
    """A model, what a pass made of it, and an input, of so many rows that some gradient differs in its last digit."""
    assert isinstance(model, pairs.Pair)
    return nameless_model(model), model.changed(), torch.randn(16, 4)


def random_graph(number: int) -> Case:
    return Case(f"random graph {number}", models.RandomGraph, rows(), unseen=True)


EXERCISES = (
    Exercise(
        id="06-find-the-dim",
        use="compute",
        given=traced,
        cases=(
            Case("sums over one dimension and over all", models.Sums, rows()),
            Case("sums with other arguments", models.MoreSums, rows(), unseen=True),
        ),
        properties=(dims_found, input_unchanged),
    ),
    Exercise(
        id="06-keep-the-dims",
        use="edit",
        cases=(
            Case("sums over one dimension and over all", models.Sums, rows()),
            Case("sums with other arguments", models.MoreSums, rows(), unseen=True),
        ),
        expected=lambda model, x: model.summed(x, keepdim=True),
        properties=(
            well_formed,
            compiled,
            same_result_or(no_argument_twice, only_sums_changed, keywords_kept, keep_where_a_dim_is),
            no_dead_nodes,
            edited,
        ),
    ),
    Exercise(
        id="06-leave-out-defaults",
        use="edit",
        cases=(
            Case("four activations", models.Activations, rows()),
            Case("functions of every kind", models.Defaults, rows(), unseen=True),
        ),
        properties=(
            well_formed,
            compiled,
            others_kept,
            same_result_or(),
            no_default_left,
            no_dead_nodes,
            edited,
        ),
    ),
    Exercise(
        id="06-one-more-in-the-list",
        use="edit",
        cases=(
            Case("a list, a tuple and a stack", models.Joining, rows()),
            Case("a model with two inputs", models.JoiningMore, rows(2), unseen=True),
        ),
        expected=lambda model, *inputs: model.joined(*inputs),
        properties=(
            well_formed,
            compiled,
            same_result_or(dims_kept, input_in_every_cat),
            as_many_cats,
            no_dead_nodes,
            edited,
        ),
    ),
    Exercise(
        id="06-tell-a-difference",
        use="compute",
        given=model_and_changed,
        call=asked,
        cases=(
            Case("a model and its trace", pairs.Unchanged, rows()),
            Case("`relu` in place on a value that is read again", pairs.ReadAgain, rows()),
            Case("`relu` in place on the input", pairs.OverInput, rows()),
            Case("`relu` in place on what `sigmoid` computes", pairs.KeptForBackward, rows()),
            Case("`celu` in place where it is safe", pairs.SafelyInPlace, rows()),
            Case("a straight-through rounding and its trace", pairs.LostBackward, rows()),
            Case("a parameter that was detached", pairs.Detached, rows()),
            Case("a softmax over a dimension that is not there", pairs.Raising, rows()),
            Case("a result with its rows in another order", pairs.Reordered, rows()),
            Case("a result with one more dimension", pairs.Reshaped, rows()),
            Case("gradients in other rows", pairs.MirroredGradient, rows()),
            Case("a parameter times 0, and without it", pairs.ZeroGradient, rows()),
            Case("`relu` in place on a value that nothing else reads", pairs.ReadOnce, rows()),
            Case("a result whose rows are turned around twice", pairs.TurnedTwice, rows()),
            Case("gradients that are handed on as they are", pairs.HandedOnGradient, rows()),
        ),
        properties=(told_apart, input_unchanged),
    ),
    Exercise(
        id="06-in-place-where-safe",
        use="pass",
        call=watched,
        cases=(
            Case("the block", models.Block, rows()),
            Case("views, a parameter, values read by others", models.Aliased, rows(), unseen=True),
            Case("layers called by their own name", models.Called, rows(), unseen=True),
            Case("values that none of `MAKERS` made", models.NoMakers, rows(), unseen=True),
            Case("submodules, keywords, dropout", models.Vision, lambda: (torch.randn(2, 2, 4, 4),), unseen=True),
            *(random_graph(number) for number in (1, 2)),
        ),
        expected=lambda model, *inputs: behaviour(model, model, *inputs),
        properties=(
            well_formed,
            compiled,
            look(SHARED, input_unchanged),
            new_object,
            shares_weights,
            stays,
            layers_apart,
            nothing_unsafe,
            same_behaviour_or(keywords_kept, settings_kept),
            nothing_missed,
        ),
    ),
)
