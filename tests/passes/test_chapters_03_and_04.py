"""Recipes of chapters 03 and 04 on modules that the chapters do not have."""

from __future__ import annotations

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
def test_how_a_relu_writes_is_read_in_each_spelling(program: Any, writes: bool) -> None:
    find_relus = from_notebook("03_replacement", "find_relus")
    assert list(find_relus(fx.symbolic_trace(program)).values()) == [writes]


def test_a_relu_that_an_input_lets_write_is_refused_before_anything_is_edited() -> None:
    relu_to_gelu = from_notebook("03_replacement", "relu_to_gelu")

    def program(x: Tensor, flag: bool = True) -> Tensor:
        return nn.functional.relu(torch.relu(x), inplace=flag) + x

    module = fx.symbolic_trace(program)
    before = str(module.graph)
    with pytest.raises(ValueError, match="flag decides"):
        relu_to_gelu(module)
    assert str(module.graph) == before


class Rotary(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.register_buffer("frequencies", torch.ones(4), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x) * self.frequencies


def test_a_draft_of_an_exported_module_saves_what_the_module_saves() -> None:
    on_draft = from_notebook("04_recompile", "on_draft")
    model, x = Rotary(), torch.randn(2, 4)
    exported = torch.export.export(model, (x,)).module()
    draft = on_draft(exported, lambda module: PassResult(module, False)).graph_module
    assert draft.state_dict().keys() == exported.state_dict().keys() == model.state_dict().keys()
    draft.load_state_dict(model.state_dict())
    torch.testing.assert_close(draft(x), model(x))
