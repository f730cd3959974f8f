"""The pass that chapter 17 ends with keeps what its own tests do not draw."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from fxbook import check_pass
from tests.taken import taken

aten = torch.ops.aten


def test_a_copy_that_is_read_by_its_place_in_memory_stays() -> None:
    drop_safely = taken("17_ship_a_pass", "drop_safely")

    def second_and_third(x: Tensor) -> Tensor:
        copied = x[1:] + 0
        return copied.as_strided((2,), (1,), 0) * 3

    rows = torch.arange(4.0)
    module = make_fx(second_and_third, tracing_mode="fake")(rows)
    assert aten.add.Tensor in {node.target for node in module.graph.nodes}
    assert not check_pass(drop_safely, module, (rows,)).modified
