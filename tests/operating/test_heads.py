"""Heads are found by running the graph, however they lie in the channels; what they share is told."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, fx, nn

from fxbook.surgery.heads import (
    HeadsNotFoundError,
    attention_at,
    attentions,
    drop_channels,
    head_map,
    shrink,
    without_heads,
)

WIDTH, HEADS = 16, 4
sdpa = nn.functional.scaled_dot_product_attention


class Block(nn.Module):
    """Attention whose heads lie one behind the other, or take turns; with as many keys as asked, given by name."""

    def __init__(self, keys: int = HEADS, turns: bool = False, named: bool = False) -> None:
        super().__init__()
        self.keys, self.turns, self.named = keys, turns, named
        self.query, self.out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.key, self.value = (nn.Linear(WIDTH, WIDTH * keys // HEADS) for _ in range(2))

    def _heads(self, x: Tensor, count: int) -> Tensor:
        if self.turns:
            return x.unflatten(-1, (-1, count)).permute(0, 3, 1, 2)
        return x.unflatten(-1, (count, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        query = self._heads(self.query(x), HEADS)
        key, value = self._heads(self.key(x), self.keys), self._heads(self.value(x), self.keys)
        named = {"value": value, "query": query, "key": key}
        mixed = sdpa(**named) if self.named else sdpa(query, key, value, enable_gqa=self.keys < HEADS)
        return x + self.out(mixed.transpose(1, 2).flatten(2))


def given(**settings: int) -> tuple[fx.GraphModule, fx.Node, Tensor]:
    torch.manual_seed(0)
    module = fx.symbolic_trace(Block(**settings).eval())
    return module, attentions(module)[0], torch.randn(2, 5, WIDTH)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("turns", [False, True])
def test_the_channels_of_a_head_are_found(turns: bool, named: bool) -> None:
    module, attention, x = given(turns=turns, named=named)
    found = head_map(module, attention, [1], (x,))
    of_one = torch.arange(WIDTH) % HEADS == 1 if turns else torch.arange(WIDTH) // HEADS == 1
    assert {found.layers[call].layer for call in found.rows} == {"query", "key", "value"}
    assert all(torch.equal(places, of_one) for places in found.rows.values())
    [(out, columns)] = found.columns.items()
    assert out.target == "out" and torch.equal(columns, torch.arange(WIDTH) // HEADS == 1)
    axis, places = found.axes[attention]
    assert axis == -3 and places.tolist() == [False, True, False, False]


def test_heads_that_share_a_key_go_together() -> None:
    module, attention, x = given(keys=2)
    with pytest.raises(HeadsNotFoundError, match="prune them together"):
        head_map(module, attention, [1], (x,))
    found = head_map(module, attention, [0, 1], (x,))
    rows = {found.layers[call].layer: int(places.sum()) for call, places in found.rows.items()}
    assert rows == {"query": 8, "key": 4, "value": 4}


@pytest.mark.parametrize("heads", [[4], range(4)])
def test_one_head_must_stay_and_each_must_be_there(heads: list[int]) -> None:
    module, attention, x = given()
    with pytest.raises(HeadsNotFoundError, match="heads 0 to 3"):
        head_map(module, attention, list(heads), (x,))


def test_an_attention_that_is_not_there_is_told() -> None:
    module, attention, _ = given()
    assert attention_at(module, 0) is attention
    with pytest.raises(HeadsNotFoundError, match="has 1 calls of scaled_dot_product_attention"):
        attention_at(module, 1)


def test_a_layer_that_is_called_twice_is_refused() -> None:
    class Twice(Block):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x) + self.value(x).sum()

    module = fx.symbolic_trace(Twice().eval())
    with pytest.raises(HeadsNotFoundError, match="value is called twice"):
        head_map(module, attentions(module)[0], [1], (torch.randn(2, 5, WIDTH),))


def test_silent_heads_are_those_whose_columns_are_zero() -> None:
    module, attention, x = given()
    expected = without_heads(module, attention, [0, 2], (x,))
    with torch.no_grad():
        columns = torch.arange(WIDTH) // HEADS % 2 == 0
        module.out.weight[:, columns] = 0
        torch.testing.assert_close(module(x), expected)


def test_each_run_finds_inputs_and_buffers_as_they_were() -> None:
    class Remembering(Block):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("past", torch.zeros(2, 5, WIDTH))

        def forward(self, x: Tensor) -> Tensor:
            return self.past.add_(super().forward(x.mul_(2.0)))

    module = fx.symbolic_trace(Remembering().eval())
    [attention], x = attentions(module), torch.randn(2, 5, WIDTH)
    before = x.clone()
    found = head_map(module, attention, [1], (x,))
    assert [int(places.sum()) for places in (*found.rows.values(), *found.columns.values())] == [4] * 4
    silent = [without_heads(module, attention, [1], (x,)) for _ in range(2)]
    assert torch.equal(*silent) and not silent[0].isnan().any()
    assert torch.equal(x, before) and not module.past.any()


def test_channels_are_dropped_under_every_name_and_the_old_tensor_stays() -> None:
    module = nn.Module()
    module.first = module.second = nn.Parameter(torch.arange(6.0).view(3, 2))
    old = module.first
    drop_channels(module, "first", 0, torch.tensor([False, True, False]))
    assert module.first is module.second and module.first.tolist() == [[0, 1], [4, 5]]
    assert old.shape == (3, 2)


SIZES = {
    "view": lambda x: x.view(2, 4, 3),
    "reshape in a list": lambda x: torch.reshape(x, [2, 4, 3]),
    "unflatten": lambda x: x.unflatten(-1, (4, 3)),
    "a size that is counted": lambda x: x.view(2, -1, 3),
}


@pytest.mark.parametrize("spelling", SIZES)
def test_the_new_size_is_written_into_the_call(spelling: str) -> None:
    module = fx.symbolic_trace(SIZES[spelling])
    node = next(node for node in module.graph.nodes if node.op.startswith("call"))
    shrink(node, -2, torch.tensor([True, False, False, False]))
    module.recompile()
    assert module(torch.zeros(2, 9)).shape == (2, 3, 3)
