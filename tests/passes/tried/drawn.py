"""Try a pass from a chapter on random graphs from Hypothesis, and count the results."""

from __future__ import annotations

import warnings

from hypothesis import HealthCheck, Phase, given, seed, settings
from torch import fx

from fxbook import random_graphs
from fxbook.cases.running import one_thread
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

    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test()
    return {"applied": sum(applied), "left": len(applied) - sum(applied)}
