"""The recipes of chapters 03 and 04 also work on modules that the chapters do not have."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn
from torch.fx.passes.infra.pass_base import PassResult

from tests.notebooks import from_notebook

pytestmark = pytest.mark.room(name="passes")


@pytest.mark.parametrize(
    ("program", "writes"),
    [
        (lambda x: nn.functional.relu(x), False),
        (lambda x: nn.functional.relu(x, True), True),
        (lambda x: nn.functional.relu(inplace=True, input=x), True),
        (lambda x: torch.relu(input=x), False),
        (lambda x: x.relu_(), True),
    ],
)
def test_a_relu_in_place_is_recognised_however_it_is_written(program: Any, writes: bool) -> None:
    find_relus = from_notebook("03_replacement", "find_relus")
    assert list(find_relus(fx.symbolic_trace(program)).values()) == [writes]


def test_a_relu_that_writes_if_an_input_says_so_is_rejected_before_any_edit() -> None:
    relu_to_gelu = from_notebook("03_replacement", "relu_to_gelu")

    def program(x: Tensor, flag: bool = True) -> Tensor:
        return nn.functional.relu(torch.relu(x), inplace=flag) + x

    module = fx.symbolic_trace(program)
    before = str(module.graph)
    with pytest.raises(ValueError, match="may write, depending on flag"):
        relu_to_gelu(module)
    assert str(module.graph) == before


class Rotary(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.register_buffer("frequencies", torch.ones(4), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x) * self.frequencies


def test_a_draft_has_the_state_dict_of_its_exported_module() -> None:
    on_draft = from_notebook("04_recompile", "on_draft")
    model, x = Rotary(), torch.randn(2, 4)
    exported = torch.export.export(model, (x,)).module()
    draft = on_draft(exported, lambda module: PassResult(module, False)).graph_module
    assert draft.state_dict().keys() == exported.state_dict().keys() == model.state_dict().keys()
    draft.load_state_dict(model.state_dict())
    torch.testing.assert_close(draft(x), model(x))


class Scaled(nn.Module):
    """A layer that is called twice, with a scale after each call."""

    def __init__(self, bias: bool, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4, bias=bias)
        self.first, self.second = nn.Parameter(torch.rand(shape)), nn.Parameter(torch.rand(4))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        hidden = torch.mul(input=self.layer(input=x), other=self.first)
        return hidden, self.second * self.layer(hidden) * self.first


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
@pytest.mark.parametrize("shape", [(), (4,)])
def test_each_scale_is_folded_into_a_copy_of_its_layer(bias: bool, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    fold_scale = from_notebook("04_recompile", "fold_scale")
    model, x = Scaled(bias, shape).to(dtype), torch.randn(2, 4, dtype=dtype)
    before, traced = copy.deepcopy(model.state_dict()), fx.symbolic_trace(model)
    assert fold_scale(traced).modified and not fold_scale(traced).modified
    assert {node.op for node in traced.graph.nodes} == {"placeholder", "call_module", "output"}
    rounding = {"rtol": 1e-2, "atol": 1e-2} if dtype is torch.float16 else {}
    torch.testing.assert_close(traced(x), model(x), **rounding)
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)


@pytest.mark.parametrize(
    "scaled",
    [
        lambda layer, x, scale: layer(x) * scale[None] * 1,
        lambda layer, x, scale: (layer(x) * layer(x)) * scale,
        lambda layer, x, scale: x * scale,
        lambda layer, x, scale: (lambda rows: rows * scale + rows)(layer(x)),
    ],
    ids=["a scale of another shape", "a scaled product", "a scaled input", "a layer whose result is used twice"],
)
def test_what_cannot_be_folded_stays(scaled: Any) -> None:
    fold_scale = from_notebook("04_recompile", "fold_scale")

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.scale = nn.Linear(4, 4), nn.Parameter(torch.rand(4))

        def forward(self, x: Tensor) -> Any:
            return scaled(self.layer, x, self.scale)

    traced = fx.symbolic_trace(Model())
    before = str(traced.graph)
    assert not fold_scale(traced).modified
    assert str(traced.graph) == before
