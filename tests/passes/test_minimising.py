"""A failing graph is made as small as possible and still fails for the same reason."""

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
    """Layers that each change the number of features, so that none can be dropped."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2 + i, 3 + i) for i in range(layers))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x.sin() + x.cos(), x


def calls(module: fx.GraphModule, *targets: object) -> list[fx.Node]:
    return [node for node in module.graph.nodes if node.target in targets]


def test_only_the_relevant_node_of_a_large_graph_is_left() -> None:
    module = fx.symbolic_trace(Deep(30))
    small = minimise(module, lambda found: bool(calls(found, "cos")))
    assert [node.name for node in small.graph.nodes] == ["x", "cos", "output"]
    assert not list(small.parameters()), "weights are left that nothing uses"


def test_an_input_of_the_right_shape_replaces_the_nodes_before() -> None:
    for seed in range(8):
        module = random_graph(seed, steps=25, in_place=False)
        found = [node.target for node in module.graph.nodes if node.op == "call_function"][-1:]
        made = minimise(module, lambda one, found=found: bool(calls(one, *found)))
        assert len(made.graph.nodes) <= 5 and calls(made, *found)
        made.graph.lint()


def test_the_given_module_stays_unchanged_and_each_check_gets_a_copy() -> None:
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
def test_a_graph_on_which_a_pass_is_wrong_becomes_small(run: object) -> None:
    def fails(module: fx.GraphModule) -> bool:
        return not check_pass(run, module, keep=["values"])

    module = next(found for seed in range(400) if fails(found := random_graph(seed, steps=15)))
    made = minimise(module, fails)
    assert fails(made) and len(made.graph.nodes) <= 6, made.code


def test_a_module_that_does_not_fail_is_rejected() -> None:
    with pytest.raises(ValueError, match="the module does not fail"):
        minimise(fx.symbolic_trace(Deep(1)), lambda _: False)


def test_a_check_that_raises_on_the_module_is_rejected() -> None:
    def fails(module: fx.GraphModule) -> bool:
        raise KeyError("my bug")

    with pytest.raises(ValueError, match=r"`fails` raised KeyError .* return True if it is the failure") as raised:
        minimise(fx.symbolic_trace(Deep(1)), fails)
    assert isinstance(raised.value.__cause__, KeyError)


def test_anything_but_a_graph_module_is_rejected() -> None:
    program = torch.export.export(nn.Sequential(nn.Linear(2, 2)), (torch.ones(1, 2),))
    unflattened = torch.export.unflatten(program)
    given = {
        r"got ExportedProgram: pass program\.module\(\)$": program,
        r"got UnflattenedModule: pass program\.module\(\) of the program that was unflattened": unflattened,
        r"got InterpreterModule: pass program\.module\(\) of": unflattened.get_submodule("0"),
        r"got Linear: trace the model first": nn.Linear(2, 2),
        r"got Graph: pass the module of the graph": program.graph,
    }
    for message, what in given.items():
        with pytest.raises(TypeError, match=message):
            minimise(what, lambda _: True)


class Branches(nn.Module):
    """A model in which one branch has a fault among unrelated calls."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda a: a.sin().cos().relu().exp().exp(), torch.sin, (x * 2,)) + 1


def test_inner_graphs_are_made_smaller() -> None:
    module = torch.export.export(Branches(), (torch.ones(2),)).module()
    code = module.true_graph_0.code

    def fails(found: fx.GraphModule) -> bool:
        # The whole graph must still run; otherwise the result would be the branch itself.
        assert isinstance(found(*[torch.ones(2) for _ in found.graph.find_nodes(op="placeholder")]), tuple | Tensor)
        return any(
            calls(inner, torch.ops.aten.relu.default) for inner in found.modules() if isinstance(inner, fx.GraphModule)
        )

    small = minimise(module, fails)
    assert fails(small) and module.true_graph_0.code == code
    [branch] = [inner for inner in small.children() if calls(inner, torch.ops.aten.relu.default)]
    assert len(branch.graph.nodes) == 3, branch.code


@pytest.mark.parametrize("layers", [50, 400])
def test_a_large_graph_needs_few_checks(layers: int) -> None:
    """With one relevant node, the number of checks grows logarithmically; each costs a copy of the graph."""
    asked = []

    def fails(found: fx.GraphModule) -> bool:
        asked.append(len(found.graph.nodes))
        return any(node.target == f"layers.{layers // 2}" for node in found.graph.nodes)

    assert len(minimise(fx.symbolic_trace(Deep(layers)), fails).graph.nodes) == 3
    assert len(asked) <= 6 * (2 * layers).bit_length(), asked


def test_a_model_from_transformers_becomes_small() -> None:
    model, inputs = small("gpt2")
    model.config.use_cache = False
    exported = unguarded(torch.export.export(model, (), inputs, strict=False))
    softmax = torch.ops.aten.scaled_dot_product_attention.default
    made = minimise(exported, lambda found: bool(calls(found, softmax)))
    assert len(calls(made, softmax)) == 1 and len(made.graph.nodes) <= 5
    # An exported graph would unpack the inputs of the whole model, and these are different inputs.
    assert "tree_flatten" in exported.code and "tree" not in made.code
