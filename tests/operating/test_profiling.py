"""A profile counts the first run, times the later ones, and ignores a failed run."""

from __future__ import annotations

import torch
from torch import fx, nn

from fxbook.profiling import Profile

ROWS = torch.ones(2, 8)


@torch.no_grad()
def profile(*runs: torch.Tensor, boxed: bool = False) -> Profile:
    """The profile of two linear layers run on these inputs; a failed run does not stop the next."""
    made = Profile(fx.symbolic_trace(nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))))
    for rows in runs:
        try:
            made.boxed_run([rows]) if boxed else made.run(rows)
        except RuntimeError:
            continue
    return made


def named(values: dict[fx.Node, object]) -> dict[str, object]:
    return {node.name: value for node, value in values.items()}


def test_the_first_run_counts_and_later_ones_are_timed() -> None:
    made = profile(ROWS, ROWS, ROWS)
    assert named(made.flops) == {"input_1": 0, "_0": 256, "_1": 256, "output": 0}
    assert named(made.alive) == {"input_1": 64, "_0": 128, "_1": 192, "output": 128}
    assert {len(times) for times in made.seconds.values()} == {2}


def test_inputs_of_a_boxed_run_count_as_long_as_they_are_alive() -> None:
    assert named(profile(ROWS, boxed=True).alive) == {"_0": 128, "_1": 192, "output": 128}


def test_a_run_that_failed_leaves_nothing_behind() -> None:
    failed = profile(torch.ones(3, 7), ROWS)
    assert named(failed.alive) == named(profile(ROWS).alive)
    assert failed.seconds == {}
