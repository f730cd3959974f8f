"""What the exercises of chapter 09 ask: measurements that say whose time, work and memory they are, and a repair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.asking.exercise import Case
from fxbook.asking.predicates import input_unchanged, no_dead_nodes, shares_weights
from fxbook.checks.bottleneck_09 import bottleneck_gone, same_scores
from fxbook.checks.flops_09 import counted, needed, one_thread
from fxbook.checks.legacy import Exercise, compiled, well_formed
from fxbook.checks.machine_09 import Drifting, Machine, Products, Timed, TimedTwice
from fxbook.checks.models_09 import GPT, Faster, MixingGPT, OtherGPT, ResNet, Twice, Views
from fxbook.checks.pairs_09 import median_with_deciles, ratio_of_flops, ratios_in_pairs, three_numbers, twenty_rounds
from fxbook.checks.properties_09 import (
    bytes_alive,
    each_module_its_flops,
    on_the_clock,
    times_of_each_node,
    without_the_first_run,
)

RUNS, ROUNDS = 5, 12


def on_a_machine(model: nn.Module) -> tuple[Any, ...]:
    """A graph on a machine of known speed: ``(traced, inputs, runs, clock)``."""
    assert isinstance(model, Timed)
    machine = Machine()
    return model.graph(machine), tuple(torch.randn(3) for _ in range(model.inputs)), RUNS, machine.clock


def two_calls(model: nn.Module) -> tuple[Any, ...]:
    """Two calls on a machine that slows down: ``(first, second, rounds, clock)``."""
    assert isinstance(model, Drifting)
    machine = Machine(drift=model.drift)
    result = nn.Identity().forward
    first, second = (
        machine.work(name, seconds, result, slow)
        # Their first calls are slow by different factors, so that they do not cancel.
        for name, seconds, slow in (("first", 0.03, 60.0), ("second", 0.03 / model.ratio, 8.0))
    )
    inputs = torch.randn(2)
    return (lambda: first(inputs)), (lambda: second(inputs)), ROUNDS, machine.clock


def images() -> tuple[Tensor, ...]:
    return (torch.randn(2, 3, 8, 8),)


def rows() -> tuple[Tensor, ...]:
    return (torch.randn(3, 6),)


def small_gpt() -> GPT:
    return GPT(words=4096, width=32, heads=2, length=32, depth=2).eval()


def other_gpt() -> GPT:
    return OtherGPT(words=512, width=24, heads=3, length=20, depth=3).eval()


def mixing_gpt() -> GPT:
    return MixingGPT(words=1024, width=16, heads=2, length=12, depth=1).eval()


@one_thread()
def with_flops(model: nn.Module, tokens: Tensor) -> Any:
    """What the model gives, and the FLOPs that are needed for it."""
    assert isinstance(model, GPT)
    found = needed(Faster(model), tokens)
    return model(tokens), {path.removeprefix("model."): flops for path, flops in found.items()}


def with_and_without(model: nn.Module) -> tuple[Any, ...]:
    """Two modules on a machine of known speed: ``(before, after, x, machine)``."""
    assert isinstance(model, Products)
    machine = Machine(drift=1.01)
    before, after = model.two(machine)
    return before, after, torch.randn(4, len(model.up)), machine


def measured(answer: Callable[..., Any], before: Any, after: Any, x: Tensor, machine: Machine) -> Any:
    """What the answer returns, how often it timed each module, how often with gradients, how often it read the clock.

    Raises:
        Exception: whatever the answer raises.
    """
    found = answer(before, after, x, clock=machine.clock)
    first, second = machine.timed("before"), machine.timed("after")
    return found, len(first), len(second), sum(first + second), machine.log.count(None)


def followed(answer: Callable[..., Any], traced: fx.GraphModule, *inputs: Any) -> Any:
    """What the answer returns; a message of torch that does not say what is wrong is told with its reason.

    Raises:
        Exception: whatever the answer raises.
    """
    try:
        return answer(traced, *inputs)
    except RuntimeError as error:
        if "Boolean value of Tensor" in str(error):
            why = "a set compares what it holds, and tensors by each element; a storage is compared as one object"
            error.args = (f"{str(error).splitlines()[0]} ({why})",)
        raise


EXERCISES = (
    Exercise(
        id="09-time-each-node",
        use="compute",
        given=on_a_machine,
        cases=(
            Case("three functions of known speed", Timed, tuple),
            Case("two inputs, and a function called twice", TimedTwice, tuple, unseen=True),
        ),
        properties=(times_of_each_node, without_the_first_run, on_the_clock),
    ),
    Exercise(
        id="09-flops-by-module",
        use="compute",
        cases=(
            Case(
                "the network of the chapter", ResNet, images, given=lambda model: (fx.symbolic_trace(model), *images())
            ),
            Case(
                "modules in modules, one called twice",
                Twice,
                rows,
                unseen=True,
                given=lambda model: (fx.symbolic_trace(model), *rows()),
            ),
        ),
        properties=(each_module_its_flops,),
    ),
    Exercise(
        id="09-bytes-alive",
        use="compute",
        call=followed,
        cases=(
            Case(
                "the network of the chapter", ResNet, images, given=lambda model: (fx.symbolic_trace(model), *images())
            ),
            Case(
                "views, a tuple and weights",
                Views,
                tuple,
                unseen=True,
                given=lambda model: (fx.symbolic_trace(model), torch.randn(6, 8)),
            ),
        ),
        properties=(bytes_alive,),
    ),
    Exercise(
        id="09-compare-in-pairs",
        use="compute",
        given=two_calls,
        cases=(Case("two calls on a machine that slows down", Drifting, tuple),),
        properties=(ratios_in_pairs,),
    ),
    Exercise(
        id="09-show-the-gain",
        use="compute",
        given=with_and_without,
        call=measured,
        cases=(
            Case("two products and one", lambda: Products(6, 24, (2.5, 3.5)), tuple),
            Case("fewer FLOPs, and not faster", lambda: Products(5, 30, (0.75, 0.85)), tuple, unseen=True),
        ),
        properties=(ratio_of_flops, three_numbers, twenty_rounds, median_with_deciles),
    ),
    Exercise(
        id="09-find-the-bottleneck",
        use="pass",
        call=counted,
        cases=(
            Case("the GPT of the exercise", small_gpt, lambda: (torch.randint(4096, (4, 32)),)),
            Case("a GPT of another size and other names", other_gpt, lambda: (torch.randint(512, (3, 20)),), True),
            Case("a GPT that mixes positions", mixing_gpt, lambda: (torch.randint(1024, (2, 12)),), True),
        ),
        expected=with_flops,
        properties=(
            well_formed,
            compiled,
            same_scores,
            bottleneck_gone,
            no_dead_nodes,
            input_unchanged,
            shares_weights,
        ),
    ),
)
