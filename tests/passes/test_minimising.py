"""A graph that fails is made as small as it can be, and still fails for the same reason."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, fx, nn

from fxbook import check_pass, minimise, random_graph
from fxbook.exporting import unguarded
from fxbook.models import small
from tests.passes import wrong


class Deep(nn.Module):
    """Layers that change the number of features, so that none can be left out."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2 + i, 3 + i) for i in range(layers))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x.sin() + x.cos(), x


def calls(module: fx.GraphModule, *targets: object) -> list[fx.Node]:
    return [node for node in module.graph.nodes if node.target in targets]


def test_of_a_large_graph_the_node_that_matters_is_left() -> None:
    module = fx.symbolic_trace(Deep(30))
    small = minimise(module, lambda found: bool(calls(found, "cos")))
    assert [node.name for node in small.graph.nodes] == ["x", "cos", "output"]
    assert not list(small.parameters()), "weights are left that nothing uses"


def test_an_input_of_the_right_shape_stands_for_what_is_before() -> None:
    for seed in range(8):
        module = random_graph(seed, steps=25, in_place=False)
        found = [node.target for node in module.graph.nodes if node.op == "call_function"][-1:]
        made = minimise(module, lambda one, found=found: bool(calls(one, *found)))
        assert len(made.graph.nodes) <= 5 and calls(made, *found)
        made.graph.lint()


def test_the_given_module_stays_and_each_question_gets_a_copy() -> None:
    module = fx.symbolic_trace(Deep(4))
    code, weights = module.code, copy.deepcopy(module.state_dict())

    def fails(found: fx.GraphModule) -> bool:
        answer = bool(calls(found, "cos"))
        for node in list(found.graph.nodes)[::-1]:
            found.graph.erase_node(node)
        for held in found.parameters():
            held.data.zero_()
        return answer

    assert len(minimise(module, fails).graph.nodes) == 3
    assert module.code == code
    assert all(torch.equal(weights[name], held) for name, held in module.state_dict().items())


@pytest.mark.parametrize("run", [wrong.merges_equal_calls, wrong.drops_what_nobody_reads, wrong.forgets_alpha])
def test_a_graph_on_which_a_pass_is_wrong(run: object) -> None:
    def fails(module: fx.GraphModule) -> bool:
        return not check_pass(run, module, keep=["values"])

    module = next(found for seed in range(400) if fails(found := random_graph(seed, steps=15)))
    made = minimise(module, fails)
    assert fails(made) and len(made.graph.nodes) <= 6, made.code


def test_a_module_that_does_not_fail_is_refused() -> None:
    with pytest.raises(ValueError, match="the module does not fail"):
        minimise(fx.symbolic_trace(Deep(1)), lambda _: False)


def test_a_model_that_nobody_here_wrote() -> None:
    model, inputs = small("gpt2")
    model.config.use_cache = False
    exported = unguarded(torch.export.export(model, (), inputs, strict=False))
    softmax = torch.ops.aten.scaled_dot_product_attention.default
    made = minimise(exported, lambda found: bool(calls(found, softmax)))
    assert len(calls(made, softmax)) == 1 and len(made.graph.nodes) <= 5
    # An exported graph takes its inputs apart as the model got them: these are not its inputs any more.
    assert "tree_flatten" in exported.code and "tree" not in made.code
