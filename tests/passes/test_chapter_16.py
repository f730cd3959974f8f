"""The pass of chapter 16 places no checkpoint on a part that would compute something else in a second run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, fx, nn
from torch.fx.experimental.proxy_tensor import make_fx

from tests.notebooks import from_notebook

pytestmark = pytest.mark.room(name="passes")

HALF = torch.full((6,), 0.5)


def by_name(x: Tensor, draw: torch.Generator) -> Tensor:
    return (x * torch.bernoulli(HALF, generator=draw)).sin().cos()


def by_position(x: Tensor, draw: torch.Generator) -> Tensor:
    return (x * torch.poisson(HALF, draw)).sin().cos()


def by_the_seed(x: Tensor, draw: torch.Generator) -> Tensor:
    return (x * torch.bernoulli(x)).sin().cos()


def in_operators(program: Callable[..., Tensor]) -> fx.GraphModule:
    return make_fx(program)(torch.ones(6), torch.Generator())


@pytest.mark.parametrize("recorded", [fx.symbolic_trace, in_operators])
@pytest.mark.parametrize(("program", "allowed"), [(by_name, False), (by_position, False), (by_the_seed, True)])
def test_a_part_that_draws_from_its_own_generator_gets_no_checkpoint(
    program: Callable[..., Tensor], allowed: bool, recorded: Callable[..., fx.GraphModule]
) -> None:
    cut, checkpoint_parts = from_notebook("16_cut_a_graph", "cut", "checkpoint_parts")
    module = recorded(program)
    [last] = [node for node in module.graph.nodes if node.name.startswith("cos")]
    result = checkpoint_parts(cut(module, [last]), names=["part_0"])
    assert result.modified is allowed
    x = torch.full((6,), 0.5, requires_grad=True)
    torch.manual_seed(0)
    found = result.graph_module(x, torch.Generator().manual_seed(0)).ne(1)
    torch.manual_seed(0)
    assert torch.equal(found, program(x, torch.Generator().manual_seed(0)).ne(1)) or recorded is in_operators


class Normed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x).sin().cos()


def test_a_checkpoint_that_eval_mode_allows_is_rejected_by_a_cut_in_train_mode() -> None:
    cut, checkpoint_parts = from_notebook("16_cut_a_graph", "cut", "checkpoint_parts")
    model = Normed().eval()
    module = fx.symbolic_trace(model)
    [last] = module.graph.find_nodes(op="call_method", target="cos")
    result = checkpoint_parts(cut(module, [last]), names=["part_0"])
    assert result.modified
    result.graph_module.train()
    result.graph_module(torch.randn(4, 2, requires_grad=True)).sum().backward()
    assert model.norm.num_batches_tracked == 2  # Once in each run.
    assert not checkpoint_parts(cut(module, [last]), names=["part_0"]).modified


def test_the_gradient_belongs_to_the_numbers_that_were_returned() -> None:
    cut, checkpoint_parts = from_notebook("16_cut_a_graph", "cut", "checkpoint_parts")
    module = fx.symbolic_trace(by_name)
    [last] = module.graph.find_nodes(op="call_method", target="cos")
    part = checkpoint_parts(cut(module, [last]), names=["part_0"]).graph_module
    x = torch.ones(6, requires_grad=True)
    result = part(x, torch.Generator().manual_seed(0))
    result.sum().backward()
    assert torch.equal(result != 1, x.grad != 0)


def test_a_checkpoint_draws_the_numbers_that_rrelu_saves() -> None:
    cut, checkpoint_parts = from_notebook("16_cut_a_graph", "cut", "checkpoint_parts")
    gradients = []
    for names in ([], ["part_0", "part_1"]):
        module = fx.symbolic_trace(nn.Sequential(nn.Tanh(), nn.RReLU()))
        [last] = module.graph.find_nodes(op="call_module", target="1")
        part = checkpoint_parts(cut(module, [last]), names=names).graph_module
        x = torch.linspace(-1, 1, 6).requires_grad_()
        torch.manual_seed(0)
        part(x).sum().backward()
        gradients.append(x.grad)
    assert torch.equal(*gradients)
