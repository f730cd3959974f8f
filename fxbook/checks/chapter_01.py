"""What the exercises of chapter 01 ask: nodes made by hand, of every opcode, with arguments of every kind."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, fx, nn

from fxbook.asking.explained import args_are_tuples, given_edited, paths_exist, reads_nodes, tensor_free
from fxbook.asking.predicates import edited, has_node, no_dead_nodes, opcodes, placeholders, shares_weights
from fxbook.checks import Case, Exercise, eager
from fxbook.checks.legacy import compiled, has_output, same_result_or, well_formed
from fxbook.checks.models_01 import (
    DrawnSums,
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
from fxbook.checks.properties_01 import (
    a_home_each,
    brackets_take_two,
    each_layer_called,
    fetches_buffers,
    fetches_each_weight,
    finds,
    in_last_dimension,
    keeps_names,
    negated_half_first,
    no_module_called,
    own_weights_stay,
    pieces_in_a_list,
    settings_kept,
    sum_then_norm_then_tanh,
)

SIX = ("placeholder", "get_attr", "call_function", "call_module", "call_method", "output")


def rows(width: int, count: int = 3) -> Callable[[], tuple[Tensor]]:
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
        properties=(
            well_formed,
            placeholders("x"),
            same_result_or(paths_exist, tensor_free, has_output, reads_nodes, sum_then_norm_then_tanh, no_dead_nodes),
            opcodes(*SIX),
            no_dead_nodes,
        ),
    ),
    Exercise(
        id="01-rotate-half",
        use="build",
        cases=(
            Case("rotation", RotateHalf, lambda: (torch.randn(2, 3, 4),)),
            Case("a batch of another shape", RotateHalf, lambda: (torch.randn(4, 5, 4),), unseen=True),
        ),
        properties=(
            well_formed,
            placeholders("x"),
            same_result_or(
                has_output,
                brackets_take_two,
                pieces_in_a_list,
                in_last_dimension,
                negated_half_first,
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
            well_formed,
            compiled,
            no_module_called,
            same_result_or(tensor_free, has_output, fetches_each_weight),
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
            Case("a model of drawn steps", DrawnSums, rows(4), unseen=True),
        ),
        properties=(finds,),
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
            tensor_free,
            args_are_tuples,
            well_formed,
            compiled,
            same_result_or(a_home_each, own_weights_stay),
            fetches_buffers,
            no_dead_nodes,
            edited,
            given_edited,
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
            well_formed,
            compiled,
            no_module_called,
            same_result_or(tensor_free, has_output, each_layer_called, settings_kept),
            opcodes("placeholder", "get_attr", "call_function", "output"),
            shares_weights,
            keeps_names,
            no_dead_nodes,
        ),
    ),
)
