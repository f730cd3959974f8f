"""The passes of chapter 15, taken out of the printed page, on layers and calls that the page does not have."""

from __future__ import annotations

import copy
import logging
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn

from tests.taken import taken

_NOTEBOOK = "15_operate_on_a_transformer"


@pytest.mark.parametrize("sizes", [(0, 4), (4, 0), (4, 4, True, "meta")], ids=["no inputs", "no outputs", "meta"])
@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
def test_a_weight_without_numbers_is_not_quantized(sizes: tuple[Any, ...], caplog: pytest.LogCaptureFixture) -> None:
    module = fx.symbolic_trace(nn.Sequential(nn.Linear(*sizes)))
    names = list(module.state_dict())
    logging.getLogger("passes").propagate = True
    with caplog.at_level(logging.INFO, "passes"):
        assert not taken(_NOTEBOOK, "quantize_linears")(module).modified
    assert "0.weight is left alone: it has no numbers" in caplog.text
    assert list(module.state_dict()) == names


def test_adapters_without_a_rank_are_refused_before_any_edit() -> None:
    module = fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4)))
    before = [node.name for node in module.graph.nodes]
    with pytest.raises(ValueError, match="rank has to be 1 or more"):
        taken(_NOTEBOOK, "add_lora")(module, layers=("0",), rank=0)
    assert [node.name for node in module.graph.nodes] == before
    assert all(weight.requires_grad for weight in module.parameters()) and not hasattr(module, "lora")


def test_what_the_fused_kernel_of_a_cpu_cannot_do() -> None:
    """A limit that the chapter states; where torch mends it, the page should no longer say so."""

    def by_hand(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return (q @ k.mT / 4).softmax(-1) @ v

    use_sdpa, traced = taken(_NOTEBOOK, "use_sdpa", "traced")
    query, key, value = torch.randn(3, 2, 4, 8, 16)
    before = traced(by_hand, query, key, value)
    after = copy.deepcopy(before)
    assert use_sdpa(after).modified
    query.requires_grad_()

    def written(module: fx.GraphModule) -> None:
        result = module(query, key, value)
        result += 1
        result.sum().backward()

    def second(module: fx.GraphModule) -> None:
        result = module(query, key, value).square().sum()
        [slope] = torch.autograd.grad(result, query, create_graph=True)
        slope.sum().backward()

    def forward(module: fx.GraphModule) -> None:
        torch.func.jvp(lambda q: module(q, key, value), (query.detach(),), (query.detach(),))

    for use, kind, told in (
        (written, RuntimeError, "modified by an inplace operation"),
        (second, RuntimeError, "flash_attention_for_cpu_backward is not implemented"),
        (forward, NotImplementedError, "forward AD with _scaled_dot_product_flash_attention_for_cpu"),
    ):
        use(before)
        with pytest.raises(kind, match=told):
            use(after)
