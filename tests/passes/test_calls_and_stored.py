"""Calls from all front ends are read in the same way, and only stored values that no node needs are removed."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import fx, nn

from fxbook.exporting import unguarded
from fxbook.surgery.calls import arguments, given, kind_of, put
from fxbook.surgery.stored import forget, retire

aten, functional = torch.ops.aten, nn.functional


class Own(nn.Conv2d):
    """A subclass of a convolution that computes something else."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return super().forward(input * 2)


class Both(nn.Module):
    """A model with convolutions as a layer, as a function, and of a subclass."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.own = nn.Conv2d(3, 4, 1, bias=False), Own(4, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.own(self.conv(x)) + functional.conv2d(weight=self.conv.weight, input=x)


def calls_of(module: fx.GraphModule) -> list[fx.Node]:
    return [node for node in module.graph.nodes if kind_of(node) == "conv2d"]


def test_a_call_is_read_in_the_same_way_from_each_front_end() -> None:
    class WholeOwn(fx.Tracer):
        def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
            return isinstance(m, nn.Conv2d)

    model = Both()
    traced = fx.GraphModule(model, WholeOwn().trace(model))
    exported = unguarded(torch.export.export(model, (torch.ones(1, 3, 2, 2),)))
    # The layer of the subclass is not read, but its operators in an exported graph are.
    assert [len(calls_of(module)) for module in (traced, exported)] == [2, 3]
    assert all(given(call)["weight"] is model.conv.weight for call in calls_of(traced))
    kept = [call for call in calls_of(exported) if given(call)["weight"].shape[1] == 3]
    assert len(kept) == 2
    for call in (*calls_of(traced), *kept):
        assert given(call)["bias"] is None
        assert given(call)["groups"] == 1
        assert isinstance(given(call)["input"], fx.Node)


@pytest.mark.parametrize("named", [True, False])
def test_an_argument_is_changed_where_it_is_passed(named: bool) -> None:
    graph = fx.Graph()
    x, weight, other = (graph.placeholder(name) for name in ("x", "weight", "other"))
    if named:
        call = graph.call_function(functional.conv2d, (), {"weight": weight, "input": x})
    else:
        call = graph.call_function(aten.conv2d.default, (x, weight))
    put(call, "weight", other)
    put(call, "bias", weight)
    assert arguments(call)["weight"] is other
    assert arguments(call)["bias"] is weight
    assert arguments(call)["input"] is x
    assert list(x.users) == list(other.users) == [call]


def test_forgetting_keeps_what_a_node_needs_and_does_not_change_the_model() -> None:
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)))
    traced = fx.symbolic_trace(model)
    first, _ = traced.graph.find_nodes(op="call_module")
    forget(traced, ["0.0", "0.1.weight", "0"])
    assert len(list(traced.parameters())) == 4
    first.replace_all_uses_with(*first.all_input_nodes)
    retire(first)
    traced.recompile()
    assert [name for name, _ in traced.named_parameters()] == ["0.1.weight", "0.1.bias"]
    assert len(list(model.parameters())) == 4
    assert torch.equal(traced(torch.ones(1, 2)), model[0][1](torch.ones(1, 2)))


def test_retiring_erases_the_chain_that_no_other_node_needs() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        kept = torch.exp(x)
        return kept * 2, torch.sin(kept + 1).add_(1)

    traced = fx.symbolic_trace(program)
    nodes = {node.name: node for node in traced.graph.nodes}
    traced.graph.output_node().args = ((nodes["mul"],),)
    with pytest.raises(RuntimeError, match="still had 1 users"):
        retire(nodes["sin"])
    retire(nodes["add_"])
    assert [node.name for node in traced.graph.nodes] == ["x", "exp", "mul", "output"]


def test_retiring_keeps_a_node_that_writes() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(x.add_(1))

    traced = fx.symbolic_trace(program)
    nodes = {node.name: node for node in traced.graph.nodes}
    traced.graph.output_node().args = (nodes["x"],)
    retire(nodes["sin"])
    assert [node.name for node in copy.deepcopy(traced).graph.nodes] == ["x", "add_", "output"]
