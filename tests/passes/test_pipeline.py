"""`run_passes` reports what each pass did, and can skip one by name."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import fx
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from fxbook import run_passes
from tests.passes.wrong import nothing, relu_by_clamp

MODULE = fx.symbolic_trace(lambda x: torch.relu(torch.sin(x)) + torch.cos(x))


def drops_cos(module: fx.GraphModule) -> fx.GraphModule:
    """Return a different module, whose edits hooks on the given graph would miss."""
    new = fx.GraphModule(module, copy.deepcopy(module.graph))
    for node in new.graph.find_nodes(op="call_function", target=torch.cos):
        node.replace_all_uses_with(node.args[0])
        new.graph.erase_node(node)
    new.recompile()
    return new


class Tanh(PassBase):
    def call(self, module: fx.GraphModule) -> PassResult:
        for node in module.graph.find_nodes(op="call_function", target=torch.sin):
            node.target = torch.tanh
        module.recompile()
        return PassResult(module, True)


def raises(module: fx.GraphModule) -> None:
    raise KeyError("my bug")


def test_each_pass_is_reported_with_what_it_made_erased_and_replaced() -> None:
    seen = run_passes(MODULE, [relu_by_clamp, drops_cos, nothing, Tanh()])
    assert str(seen) == (
        "relu_by_clamp: made 1 (clamp_min); erased 1 (relu); replaced 1 (relu by clamp_min); changed 1 (add)\n"
        "drops_cos: erased 1 (cos); replaced 1 (cos by x); changed 1 (add)\n"
        "nothing: nothing\n"
        "Tanh: changed 1 (sin)"
    )
    assert seen["drops_cos"].replaced == {"cos": "x"} and not seen["nothing"]
    x = torch.tensor([-1.0, 2.0])
    assert torch.equal(seen.module(x), torch.tanh(x).clamp_min(0) + x)
    assert torch.equal(MODULE(x), torch.relu(x.sin()) + x.cos())


def test_a_pass_is_left_out_by_its_name() -> None:
    seen = run_passes(MODULE, [nothing, drops_cos, nothing], without=["drops_cos", "nothing_2"])
    assert [str(one) for one in seen] == ["nothing: nothing", "drops_cos: left out", "nothing_2: left out"]
    assert "cos" in seen.module.code
    with pytest.raises(ValueError, match="no pass is called 'drop_cos'; the passes are nothing, drops_cos"):
        run_passes(MODULE, [nothing, drops_cos], without="drop_cos")


def test_nodes_of_an_inner_graph_have_its_path() -> None:
    graph = fx.Graph()
    graph.output(graph.call_module("inner", (graph.placeholder("x"),)))
    outer = fx.GraphModule({"inner": copy.deepcopy(MODULE)}, graph)

    def inside(module: fx.GraphModule) -> None:
        relu_by_clamp(module.inner)

    assert run_passes(outer, [inside])["inside"].replaced == {"inner.relu": "inner.clamp_min"}


def test_an_error_names_its_pass() -> None:
    with pytest.raises(KeyError, match="my bug") as caught:
        run_passes(MODULE, [nothing, raises])
    assert caught.value.__notes__ == ["raised by the pass raises"]
    with pytest.raises(TypeError, match="symbolic_trace"):
        run_passes(torch.nn.ReLU(), [nothing])
