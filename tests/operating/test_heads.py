"""Heads that can be pruned are found, and their channels are dropped under every name of the weight."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, fx, nn

from fxbook.surgery.heads import HeadsNotFoundError, attentions, drop_channels, head_map


class Block(nn.Module):
    """Attention with four heads."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.out = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        heads = self.query(x).unflatten(-1, (4, -1)).transpose(1, 2)
        mixed = nn.functional.scaled_dot_product_attention(heads, heads, heads)
        return self.out(mixed.transpose(1, 2).flatten(2))


@pytest.mark.parametrize("heads", [[4], range(4)])
def test_one_head_must_stay_and_each_must_exist(heads: list[int]) -> None:
    module = fx.symbolic_trace(Block().eval())
    with pytest.raises(HeadsNotFoundError, match="heads 0 to 3"):
        head_map(module, attentions(module)[0], list(heads), (torch.randn(2, 5, 16),))


def test_channels_are_dropped_under_every_name_and_the_old_tensor_stays() -> None:
    module = nn.Module()
    module.first = module.second = nn.Parameter(torch.arange(6.0).view(3, 2))
    old = module.first
    drop_channels(module, "first", 0, torch.tensor([False, True, False]))
    assert module.first is module.second and module.first.tolist() == [[0, 1], [4, 5]]
    assert old.shape == (3, 2)
