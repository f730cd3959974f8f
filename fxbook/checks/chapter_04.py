"""What the exercises of chapter 04 ask: what is stale, what fails, what is lost, and an edit that has a way back."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
import torch._dynamo  # print_readable imports it, which takes longer than a check may
from torch import Tensor, fx, nn

from fxbook.asking.exercise import Case, one_of
from fxbook.asking.predicates import input_unchanged
from fxbook.checks.edits_04 import (
    Edit,
    add_dead_node,
    adds_noise,
    adds_up_in_place,
    another_activation,
    breaks_order,
    calls,
    calls_a_module,
    calls_one_of,
    edited,
    fetches_another,
    fetches_nothing,
    fetches_twice,
    insert_neg,
    last_sum_later,
    layer_that_fails,
    names_nothing,
    relus,
    renamed,
    renamed_anew,
    shape_first,
    shape_last,
    sound_again,
    square_of_up,
    stops_half_way,
    tanh_for_relu,
    there_and_back,
    typed_square_of_up,
    writes_no_python,
)
from fxbook.checks.inside_04 import (
    beside_a_sequential,
    in_a_row,
    several_levels,
    stale_around_a_child,
    under_a_plain_root,
    with_a_stale_child,
)
from fxbook.checks.legacy import Exercise
from fxbook.checks.models_04 import (
    FeedForward,
    Gated,
    Mixed,
    Noisy,
    Plain,
    declines,
    double,
    halve,
    magnitude,
    refuses,
)
from fxbook.checks.noted_04 import brought_up_to_date, counted, said_of, tried
from fxbook.checks.properties_04 import (
    all_up_to_date,
    as_before_or_edited,
    changed_as_asked,
    compiled_once,
    foretells_the_pickle,
    gives_the_graph,
    graphs_kept,
    left_alone,
    left_well,
    lets_the_error_out,
    names_the_node,
    owned,
    result_as_asked,
    says_whether_stale,
)

Given = Callable[[nn.Module], tuple[Any, ...]]


def rows(width: int = 4) -> Callable[[], tuple[Tensor, ...]]:
    return lambda: (torch.randn(3, width),)


# ---- what is given, and what is expected -----------------------------------------------------------------------------


def with_input(model: nn.Module) -> tuple[Any, ...]:
    return fx.symbolic_trace(model), torch.randn(3, 4)


def renamed_with_input(model: nn.Module) -> tuple[Any, ...]:
    return renamed(model), torch.randn(3, 4)


def with_gelu(traced: fx.GraphModule, x: Tensor) -> Any:
    for node in relus(traced.graph):
        node.target = nn.functional.gelu
    traced.recompile()
    return traced(x)


def failing(width: int, build: Given) -> Given:
    """The module that ``build`` gives, and an input of this width."""
    return lambda model: (*build(model), torch.randn(3, width))


def either() -> nn.Module:
    """One of two models."""
    return one_of(FeedForward, Gated)()


def alone(build: Callable[[nn.Module], fx.GraphModule]) -> Given:
    return lambda model: (build(model),)


def edit_of(edit: Edit, *, stale: bool = False) -> Given:
    """A module with names and notes, and the edit to try on it."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        traced = renamed(model)
        if stale:
            insert_neg(traced.graph)
        return traced, edit

    return given


_CALLS_ONE_THAT_RAISES = calls_one_of(refuses, declines)

EXERCISES = (
    Exercise(
        id="04-is-it-stale",
        use="compute",
        call=said_of,
        cases=(
            Case("a module fresh from tracing", either, rows(), given=edited(lambda graph: None)),
            Case("an edit", either, rows(), given=edited(another_activation)),
            Case("an edit, compiled", either, rows(), given=edited(another_activation, compiled=True)),
            Case("an edit that was taken back", Gated, rows(), True, edited(there_and_back)),
            Case("an edit that changes no result", either, rows(), True, edited(add_dead_node)),
            Case("an edit that changes the order alone", Gated, rows(), True, edited(last_sum_later)),
            Case("an edit in a traced module inside", FeedForward, rows(), True, with_a_stale_child),
            Case("a node that changes no result, compiled", either, rows(), True, edited(add_dead_node, True)),
            Case("another order, compiled", Gated, rows(), True, edited(last_sum_later, True)),
            Case("an edit around a traced module inside", FeedForward, rows(), True, stale_around_a_child),
        ),
        properties=(input_unchanged, left_alone, says_whether_stale),
    ),
    Exercise(
        id="04-every-module-inside",
        use="compute",
        given=lambda model: (model,),
        call=brought_up_to_date,
        cases=(
            Case("the module of the chapter", beside_a_sequential, rows()),
            Case("a root that was not traced", under_a_plain_root, rows(), unseen=True),
            Case("several levels", several_levels, rows(), unseen=True),
            Case("nothing that was traced", Plain, rows(), unseen=True),
        ),
        properties=(graphs_kept, all_up_to_date),
    ),
    Exercise(
        id="04-compile-once",
        use="compute",
        given=with_input,
        call=counted,
        expected=with_gelu,
        cases=(
            Case("a model with two activations", Gated, rows()),
            Case("the block of the chapter", FeedForward, rows(), unseen=True),
            Case("a model without an activation to change", Plain, rows(), unseen=True),
            Case("nodes with names of their own", Gated, rows(), True, renamed_with_input),
            Case("other spellings of ReLU beside torch.relu", Mixed, rows(), unseen=True),
        ),
        properties=(changed_as_asked, left_well, result_as_asked, compiled_once),
    ),
    Exercise(
        id="04-name-the-failing-node",
        use="compute",
        cases=(
            Case("a line that calls a function", FeedForward, rows(), given=failing(4, edited(square_of_up, True))),
            Case("a line that calls a layer", FeedForward, rows(), given=layer_that_fails),
            Case("nothing that fails", FeedForward, rows(), True, failing(4, edited(lambda graph: None))),
            Case(
                "a line that calls a traced module",
                FeedForward,
                rows(),
                True,
                failing(3, lambda model: (in_a_row(near=fx.symbolic_trace(model)),)),
            ),
            Case("nodes with names of their own", Gated, rows(), True, failing(3, alone(renamed_anew))),
            Case("a line that fetches a weight", Gated, rows(), True, failing(4, edited(fetches_nothing, True))),
            Case(
                "a function of your own", FeedForward, rows(), True, failing(4, alone(calls_one_of(refuses, declines)))
            ),
            Case("an operation in place", FeedForward, rows(), True, failing(4, edited(adds_up_in_place, True))),
            Case("a node with a type", FeedForward, rows(), True, failing(4, edited(typed_square_of_up, True))),
            Case("an edit that was not compiled", FeedForward, rows(), True, failing(4, edited(square_of_up))),
            Case("a graph that was mended, not compiled", FeedForward, rows(), True, failing(4, sound_again)),
        ),
        properties=(names_the_node,),
    ),
    Exercise(
        id="04-survives-a-pickle",
        use="compute",
        call=said_of,
        cases=(
            Case("the block of the chapter", FeedForward, rows(), given=alone(fx.symbolic_trace)),
            Case("a function of your own", FeedForward, rows(), given=alone(calls_one_of(double, halve))),
            Case("nodes with names of their own", FeedForward, rows(), True, alone(renamed)),
            Case("an edit that was not compiled", FeedForward, rows(), True, edited(tanh_for_relu)),
            Case("paths and a weight", Gated, rows(), True, alone(fx.symbolic_trace)),
            Case("noise of the size of an input", Noisy, rows(), True, alone(fx.symbolic_trace)),
            Case("noise that reads no input", FeedForward, rows(), True, alone(adds_noise)),
            Case("an addition in place", FeedForward, rows(), True, alone(calls(operator.iadd, 1.0))),
            Case("a lambda", FeedForward, rows(), True, alone(calls(lambda value: value * 2))),
            Case("a function that chooses", FeedForward, rows(), True, alone(calls(magnitude))),
            Case("a module of your own that chooses", FeedForward, rows(), True, alone(calls_a_module)),
            Case("a weight fetched twice", Gated, rows(), True, alone(fetches_twice)),
            Case("a shape read early and used late", FeedForward, rows(), True, alone(shape_first)),
            Case("an addition", FeedForward, rows(), True, alone(calls(operator.add, 1.0))),
            Case("a weight that nothing else fetches", Gated, rows(), True, alone(fetches_another)),
            Case("a shape read where it is used", FeedForward, rows(), True, alone(shape_last)),
        ),
        properties=(input_unchanged, left_alone, foretells_the_pickle),
    ),
    Exercise(
        id="04-forget-nothing",
        use="compute",
        call=tried,
        cases=(
            Case("a sound edit", FeedForward, rows(), given=edit_of(tanh_for_relu)),
            Case("an edit that stops half-way", FeedForward, rows(), given=edit_of(stops_half_way)),
            Case("an edit that breaks the order", FeedForward, rows(), given=edit_of(breaks_order)),
            Case("an edit that adds a node", Gated, rows(), True, edit_of(insert_neg)),
            Case("a path that leads nowhere", Gated, rows(), True, edit_of(names_nothing)),
            Case("an argument that is no Python", FeedForward, rows(), True, edit_of(writes_no_python)),
            Case("a module that was stale before", Gated, rows(), True, edit_of(stops_half_way, stale=True)),
            Case("no edit, of a stale module", FeedForward, rows(), True, edit_of(lambda graph: None, stale=True)),
        ),
        properties=(gives_the_graph, lets_the_error_out, as_before_or_edited, left_well, owned),
    ),
)
