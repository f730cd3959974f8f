"""The passes of chapter 15 work on layers and calls that its own models do not have."""

from __future__ import annotations

import copy
import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn
from torch.nn.functional import linear

from tests.notebooks import from_notebook

_NOTEBOOK = "15_operate_on_a_transformer"


class Sub(nn.Module):
    """A layer with its own weights; its ``forward`` calls a function with the layer and the input."""

    def __init__(self, forward: Callable[[Sub, Tensor], Any], **parts: Tensor | nn.Module) -> None:
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, nn.Parameter(part) if isinstance(part, Tensor) else part)
        self._forward = forward

    def forward(self, x: Tensor) -> Any:
        return self._forward(self, x)


def traced_copy(**parts: nn.Module) -> fx.GraphModule:
    """A traced sequence of copied layers."""
    return copy.deepcopy(fx.symbolic_trace(nn.Sequential(OrderedDict(parts))))


@pytest.mark.parametrize("sizes", [(0, 4), (4, 0), (4, 4, True, "meta")], ids=["no inputs", "no outputs", "meta"])
@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
def test_a_weight_without_numbers_is_not_quantized(sizes: tuple[Any, ...], caplog: pytest.LogCaptureFixture) -> None:
    module = fx.symbolic_trace(nn.Sequential(nn.Linear(*sizes)))
    names = list(module.state_dict())
    logging.getLogger("passes").propagate = True
    with caplog.at_level(logging.INFO, "passes"):
        assert not from_notebook(_NOTEBOOK, "quantize_linears")(module).modified
    assert "0.weight is left alone: it has no numbers" in caplog.text
    assert list(module.state_dict()) == names


def _square() -> Tensor:
    return torch.randn(4, 4)


MANY_WEIGHTS = {
    "two weights in one layer": Sub(lambda s, x: linear(linear(x, s.w1).relu(), s.w2), w1=_square(), w2=_square()),
    "a layer inside, named like a part of an adapter": Sub(
        lambda s, x: s.up(linear(x, s.weight)), weight=_square(), up=nn.Linear(4, 4)
    ),
    "names that differ by a dot alone": Sub(
        lambda s, x: linear(s.a(x), s.a_b), a=Sub(lambda s, x: linear(x, s.b), b=_square()), a_b=_square()
    ),
}


@pytest.mark.parametrize("kind", MANY_WEIGHTS)
def test_each_weight_has_an_adapter_of_its_own(kind: str) -> None:
    add_lora, merge_lora, adapter = from_notebook(_NOTEBOOK, "add_lora", "merge_lora", "Adapter")
    module, x = traced_copy(mlp=MANY_WEIGHTS[kind]), torch.randn(2, 4)
    names = list(module.state_dict())
    assert add_lora(module, layers=("mlp", "up", "a")).modified
    adapters = [one for one in module.modules() if isinstance(one, adapter)]
    assert len(adapters) == 2
    for one in adapters:
        nn.init.normal_(one.up)
    expected = module(x)
    assert merge_lora(module).modified
    torch.testing.assert_close(module(x), expected, rtol=1e-4, atol=1e-4)
    assert list(module.state_dict()) == names and all(weight.requires_grad for weight in module.parameters())


def test_weights_require_gradients_again_if_the_calls_to_their_adapters_are_gone() -> None:
    """Between the two passes, dead code is eliminated, or quantizing removes the weight of another layer."""
    add_lora, merge_lora = from_notebook(_NOTEBOOK, "add_lora", "merge_lora")
    model = {"block": Sub(lambda s, x: (s.unused(x), s.used(x))[1], unused=nn.Linear(4, 4), used=nn.Linear(4, 4))}
    for quantized in (False, True):
        module = traced_copy(**model)
        add_lora(module, layers=("unused",))
        module.graph.eliminate_dead_code()
        module.recompile()
        if quantized:
            assert from_notebook(_NOTEBOOK, "quantize_linears")(module).modified
        assert merge_lora(module).modified and not hasattr(module, "lora")
        assert all(weight.requires_grad for weight in module.parameters())
        assert not merge_lora(module).modified
    assert add_lora(traced_copy(**model), layers=("used",)).modified


@pytest.mark.parametrize("place", ["scores", "result"])
def test_attention_that_writes_into_its_out_is_left_alone(place: str, caplog: pytest.LogCaptureFixture) -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor, buffer: Tensor) -> tuple[Tensor, Tensor]:
        scores = torch.matmul(q, k.mT, out=buffer if place == "scores" else None)
        result = torch.matmul((scores / 4).softmax(-1), v, out=buffer if place == "result" else None)
        return result, buffer * 1

    use_sdpa, with_examples = from_notebook(_NOTEBOOK, "use_sdpa", "with_examples")
    inputs = *torch.randn(3, 2, 4, 16), torch.zeros(2, 4, 4 if place == "scores" else 16)
    module = with_examples(attend, *inputs)
    logging.getLogger("passes").propagate = True
    with caplog.at_level(logging.INFO, "passes"):
        assert not use_sdpa(module).modified
    assert "writes into its out" in caplog.text


@pytest.mark.parametrize("computed", [False, True], ids=["leaves", "computed"])
def test_heads_are_pruned_even_if_the_model_writes_into_its_inputs(computed: bool) -> None:
    class Writing(nn.Module):
        def __init__(self, attention: nn.Module) -> None:
            super().__init__()
            self.attention = attention

        def forward(self, x: Tensor, hidden: Tensor) -> Tensor:
            x.mul_(0.5).add_(1)
            return self.attention(x, hidden)

    names = ("use_sdpa", "with_examples", "prune_heads", "SelfAttention")
    use_sdpa, with_examples, prune_heads, attention = from_notebook(_NOTEBOOK, *names)
    x, hidden = torch.randn(2, 8, 32), torch.ones(8, 8, dtype=torch.bool).triu(1)
    module = with_examples(Writing(attention(32, 4).eval()), x.clone(), hidden)
    assert use_sdpa(module).modified
    x = x.requires_grad_() * 1 if computed else x
    before = x.detach().clone()
    assert prune_heads(module, heads={0: [1]}, inputs=(x, hidden)).modified
    assert torch.equal(x, before)
