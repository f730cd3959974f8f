"""Try a pass from a chapter on random graphs from Hypothesis, and count the results."""

from __future__ import annotations

import warnings

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from torch import fx

from fxbook import random_graphs
from tests.passes.tried.trial import Trial

EXAMPLES, SEED = 60, 1
STEPS = 8


def counted(trial: Trial, examples: int = EXAMPLES, drawn_from: int = SEED) -> dict[str, int]:
    """Count the graphs that the pass changed, and those that it left alone.

    Raises:
        AssertionError: with the smallest graph on which the pass breaks an invariant.
    """
    applied = []

    @seed(drawn_from)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(random_graphs(steps=STEPS, **trial.limits))
    def test(module: fx.GraphModule) -> None:
        applied.append(trial.of(module))

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            test()
    finally:
        torch.set_num_threads(threads)
    return {"applied": sum(applied), "left": len(applied) - sum(applied)}
