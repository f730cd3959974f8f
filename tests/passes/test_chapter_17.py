"""The passes of chapter 17 are also right on graphs that their own tests do not generate."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, fx, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.infra.pass_base import PassResult

from fxbook import check_pass
from tests.notebooks import from_notebook

pytestmark = pytest.mark.room(name="passes")

aten = torch.ops.aten


def test_a_copy_that_is_read_by_its_memory_offset_stays() -> None:
    drop_safely = from_notebook("17_ship_a_pass", "drop_safely")

    def second_and_third(x: Tensor) -> Tensor:
        copied = x[1:] + 0
        return copied.as_strided((2,), (1,), 0) * 3

    rows = torch.arange(4.0)
    module = make_fx(second_and_third, tracing_mode="fake")(rows)
    assert aten.add.Tensor in {node.target for node in module.graph.nodes}
    assert not check_pass(drop_safely, module, (rows,)).require().result.modified


@pytest.mark.parametrize("name", ["drop_dropout", "drop_dropouts"])
def test_a_dropout_returns_its_input_whatever_its_first_keyword(name: str) -> None:
    graph = fx.Graph()
    p, x = graph.placeholder("p"), graph.placeholder("x")
    graph.output(graph.call_function(aten.dropout.default, (), {"p": p, "input": x, "train": False}))
    module = fx.GraphModule({}, graph)
    assert from_notebook("17_ship_a_pass", name)(module).modified
    assert torch.equal(module(0.5, torch.ones(2)), torch.ones(2))


def test_a_dropout_with_a_hook_stays() -> None:
    drop_dropouts = from_notebook("17_ship_a_pass", "drop_dropouts")
    model = nn.Sequential(nn.Dropout(), nn.Dropout()).eval()
    model[0].register_forward_hook(lambda layer, inputs, output: output * 2)
    traced = fx.symbolic_trace(model)
    assert drop_dropouts(traced).modified
    assert [node.target for node in traced.graph.find_nodes(op="call_module")] == ["0"]
    assert torch.equal(traced(torch.ones(2)), torch.full((2,), 2.0))


def loses_a_write(module: fx.GraphModule) -> PassResult:
    for node in module.graph.find_nodes(op="call_method", target="add_"):
        node.target = "add"
    module.recompile()
    return PassResult(module, True)


def nothing(module: fx.GraphModule) -> PassResult:
    return PassResult(module, False)


def test_a_run_of_passes_detects_a_lost_write_to_an_input_and_accepts_nan() -> None:
    run_passes = from_notebook("17_ship_a_pass", "run_passes")
    counted = fx.symbolic_trace(lambda x: x.add_(1).log())
    with pytest.raises(Exception, match="the 'loses_a_write' pass"):
        run_passes(counted, [loses_a_write], [], torch.ones(2))
    given = torch.full((2,), -3.0)
    assert not run_passes(counted, [nothing], [], given).modified
    assert torch.equal(given, torch.full((2,), -3.0))


class Cached(nn.Module):
    """Attention over cached keys and values, one of which may be written before the result is used."""

    def __init__(self, attention_steps: Callable[..., Tensor], written: str) -> None:
        super().__init__()
        self.attention_steps, self.written = attention_steps, written
        self.register_buffer("key", torch.randn(1, 2, 3, 4))
        self.register_buffer("value", torch.randn(1, 2, 3, 4))

    def forward(self, query: Tensor, new: Tensor, mask: Tensor) -> Tensor:
        result = self.attention_steps(query, self.key, self.value, 0.5, mask)
        if self.written:
            getattr(self, self.written).copy_(new)
        return result * 2


@pytest.mark.parametrize("written", ["key", "value", ""])
def test_attention_to_a_cache_that_is_written_before_the_result_is_used_stays_as_steps(written: str) -> None:
    attention_steps, fuse_with_notes = from_notebook("17_ship_a_pass", "attention_steps", "fuse_with_notes")
    inputs = (*torch.randn(2, 1, 2, 3, 4), torch.zeros(3, 3))
    model = Cached(attention_steps, written)
    module = torch.export.export(model, inputs).module(check_guards=False)
    assert check_pass(fuse_with_notes, module, inputs).require().result.modified is not bool(written)


def test_attention_whose_result_is_written_stays_as_steps() -> None:
    attention_steps, fuse_with_notes = from_notebook("17_ship_a_pass", "attention_steps", "fuse_with_notes")

    def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, writes: bool) -> Tensor:
        result = attention_steps(query, key, value, 0.5, mask)
        return result.add_(1) if writes else result + 1

    inputs = (*torch.randn(3, 1, 2, 3, 4), torch.zeros(3, 3))
    for writes in (False, True):
        module = fx.symbolic_trace(attention, concrete_args={"writes": writes})
        result = check_pass(fuse_with_notes, module, (*inputs, writes)).require().result
        assert result.modified is not writes


@pytest.mark.parametrize("switched", [False, True])
def test_attention_is_not_moved_out_of_a_block_without_gradients(switched: bool) -> None:
    attention_steps, fuse_with_notes = from_notebook("17_ship_a_pass", "attention_steps", "fuse_with_notes")

    def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        with torch.no_grad() if switched else contextlib.nullcontext():
            result = attention_steps(query, key, value, 0.5, mask)
        return result * query

    inputs = (*torch.randn(3, 1, 2, 3, 4), torch.zeros(3, 3))
    module = make_fx(attention, pre_dispatch=True)(*inputs)
    assert fuse_with_notes(module).modified is not switched, module.code
