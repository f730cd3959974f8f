"""The filter of chapter 12 lets through the norms that the fused function computes, and no others."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, fx

from tests.taken import taken


class Noting(fx.Interpreter):
    """Leave the value of each node in its notes, as Dynamo leaves an example."""

    def run_node(self, n: fx.Node) -> Any:
        n.meta["example_value"] = super().run_node(n)
        return n.meta["example_value"]


@pytest.mark.parametrize(
    ("width", "of_weight", "fits"),
    [(6, (6,), True), (6, (1,), False), (1, (4,), False), (6, (4, 6), False), (1, (1,), True)],
)
def test_a_norm_is_fused_if_its_weight_is_as_wide_as_its_input(
    width: int, of_weight: tuple[int, ...], fits: bool
) -> None:
    names = "rms_norm", "fused_rms_norm", "fits_rms_norm", "fuse_pattern"
    rms_norm, fused_rms_norm, fits_rms_norm, fuse_pattern = taken("12_patterns", *names)

    def norm(x: Tensor, weight: Tensor) -> Tensor:
        return rms_norm(x, weight, 1e-6, torch.float32)

    inputs = torch.rand(4, width), torch.rand(of_weight)
    module = fx.symbolic_trace(norm)
    Noting(module).run(*inputs)
    assert fuse_pattern(module, rms_norm, fused_rms_norm, filters=[fits_rms_norm]).modified is fits
    torch.testing.assert_close(module(*inputs), norm(*inputs))
