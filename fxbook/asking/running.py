"""Run a model on inputs the same way in both halves of a check: seeded, without gradients, on copies of the inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from fxbook.asking.exercise import Inputs, seeded

# Far from the seeds of the inputs, so that noise drawn by a model is never the noise its inputs were drawn from.
_RUN = 1_000_003


def run_on(call: Callable[..., Any], inputs: list[Inputs], seed: int) -> list[Any]:
    """What ``call`` returns for each tuple of inputs; dropout and other noise repeat for the same seed."""
    outputs = []
    for draw, arguments in enumerate(inputs):
        copies = pytree.tree_map_only(torch.Tensor, torch.clone, arguments)
        with seeded(seed + _RUN + draw), torch.no_grad():
            outputs.append(call(*copies))
    return outputs
