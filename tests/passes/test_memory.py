"""Trying a pass takes at most twice the memory of the weights, besides the given module."""

from __future__ import annotations

import gc

import pytest
import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult
from torch.profiler import profile

from fxbook import check_pass

LAYERS, WIDTH = 8, 384
WEIGHTS = LAYERS * (WIDTH * WIDTH + WIDTH) * 4
# For inputs, results, and one weight that is being compared.
BESIDES = WEIGHTS // 4


def nothing(module: fx.GraphModule) -> PassResult:
    return PassResult(module, False)


def halves_and_doubles(module: fx.GraphModule) -> PassResult:
    """Right: replaces all weights."""
    found = [node for node in module.graph.nodes if node.op == "call_module" and "halved" not in node.meta]
    for node in found:
        old = module.get_submodule(node.target)
        new = nn.utils.skip_init(nn.Linear, WIDTH, WIDTH)
        new.weight = nn.Parameter(old.weight.detach() / 2)
        new.bias = nn.Parameter(old.bias.detach() / 2)
        module.set_submodule(node.target, new.train(old.training))
        with module.graph.inserting_after(node):
            doubled = module.graph.call_function(torch.mul, (node, 2))
        doubled.meta = node.meta | {"halved": True}
        node.meta["halved"] = True
        node.replace_all_uses_with(doubled, delete_user_cb=lambda user, doubled=doubled: user is not doubled)
    module.recompile()
    return PassResult(module, bool(found))


def most_held(run: object, **limits: object) -> int:
    """The peak memory of tensors while a pass is checked, counted from torch's allocations."""
    module = fx.symbolic_trace(nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))))
    inputs = (torch.ones(2, WIDTH),)
    check_pass(run, module, inputs, **limits)
    with profile(profile_memory=True) as profiled:
        assert check_pass(run, module, inputs, **limits)
    found = [event for event in profiled.profiler.kineto_results.events() if event.name() == "[memory]"]
    held, most = 0, 0
    for event in sorted(found, key=lambda one: one.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return most


@pytest.mark.parametrize(("run", "times"), [(nothing, 2), (halves_and_doubles, 3)])
def test_a_check_holds_at_most_twice_the_weights(run: object, times: int) -> None:
    """The weights that the pass itself makes while it runs do not count."""
    assert most_held(run) <= times * WEIGHTS + BESIDES


@pytest.mark.room(name="passes")
def test_the_callers_objects_are_frozen_only_during_a_check() -> None:
    frozen = []

    def looks(module: fx.GraphModule) -> PassResult:
        frozen.append(gc.get_freeze_count())
        return PassResult(module, False)

    module, inputs = fx.symbolic_trace(nn.Linear(2, 2)), (torch.ones(1, 2),)
    check_pass(looks, module, inputs)
    assert min(frozen) > 0 and gc.get_freeze_count() == 0
    gc.freeze()
    try:
        check_pass(looks, module, inputs)
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
