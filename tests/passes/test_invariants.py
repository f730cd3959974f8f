"""For each invariant there is a pass that breaks it, and Hypothesis finds a small graph on which it does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings
from torch import fx

from fxbook import check_pass, invariants, random_graphs
from tests.passes import wrong
from tests.passes.planted.missed import MISSED

BROKEN_BY = {
    "runs": [wrong.raises],
    "lint": [wrong.puts_a_node_before_what_it_reads],
    "code": [wrong.forgets_recompile],
    "no_dead_nodes": [wrong.leaves_the_old_node],
    "meta": [wrong.forgets_meta, wrong.tells_a_wrong_shape],
    "values": [wrong.drops_what_nobody_reads, wrong.forgets_alpha, wrong.merges_equal_calls],
    "values_at_another_size": [wrong.folds_sizes],
    "gradients": [wrong.detaches],
    "aliasing": [wrong.drops_clones],
    "purity": [
        wrong.switches_gradients_off,
        wrong.draws_a_number,
        wrong.halves_weights_in_place,
        wrong.puts_another_weight_into_a_shared_module,
    ],
    "inputs_kept": [wrong.renames_inputs],
    "state_kept": [wrong.renames_layers],
    "modes": [wrong.trains, wrong.freezes],
    "modified": [wrong.always_says_that_it_changed, wrong.never_says_that_it_changed],
    "idempotence": [wrong.adds_zero_each_time],
    "determinism": [wrong.names_by_chance],
    "no_retrace": [wrong.traces_again, wrong.transforms],
}
# Limits for the graphs, since a final clone, a tanh, a parameter or a write between equal calls is rare.
CALLS_ALONE = dict.fromkeys(("modules", "methods", "tuples", "views", "sizes", "masks", "attributes"), False)
CALLS_ALONE |= dict.fromkeys(("images", "integers", "attention"), False)
LIMITS = {
    wrong.drops_clones: {"functions": (torch.clone, torch.relu)},
    wrong.detaches: {"functions": (torch.tanh, torch.relu)},
    wrong.merges_equal_calls: CALLS_ALONE,
    wrong.freezes: CALLS_ALONE | {"attributes": True},
}
# ``make test`` runs the first pass of each invariant, the room *passes* the others.
PAIRS = [
    pytest.param(name, run, id=f"{name}-{run.__name__}", marks=[pytest.mark.room(name="passes")] * (run is not runs[0]))
    for name, runs in BROKEN_BY.items()
    for run in runs
]
# Settings without the explain phase, which tries each failing graph many more times.
QUICK = settings(
    max_examples=300,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow],
)
MOST_NODES = 7


def found(run: Callable, keep: object, **limits: object) -> tuple[fx.GraphModule | None, str]:
    """The smallest failing graph that Hypothesis finds, and the message."""
    failing: list[tuple[fx.GraphModule, str]] = []

    @QUICK
    @given(random_graphs(**limits))
    def test(module: fx.GraphModule) -> None:
        try:
            check_pass(run, module, keep=keep).require()
        except AssertionError as error:
            failing.append((module, str(error)))
            raise

    try:
        test()
    except AssertionError:
        return failing[-1]
    return None, ""


def test_every_invariant_has_a_pass_that_breaks_it() -> None:
    planted = {name for plant in MISSED for name in plant.noticed_by}
    assert set(BROKEN_BY) | planted == {invariant.__name__ for invariant in invariants.ALL}


@pytest.mark.parametrize(("name", "run"), PAIRS)
def test_a_wrong_pass_is_found_with_a_small_graph(name: str, run: Callable) -> None:
    module, said = found(run, [name], **LIMITS.get(run, {}))
    assert module is not None, f"{name} lets {run.__name__} pass"
    assert f"\n! {name}: " in said, said
    print(module.code, said)
    assert len(module.graph.nodes) <= MOST_NODES, module.code
