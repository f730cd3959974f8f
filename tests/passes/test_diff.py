"""A difference tells what a pass changed, whatever became of the names, and leaves both graphs as they are."""

from __future__ import annotations

import copy
import re

import pytest
import torch
from torch import Tensor, fx, nn

from fxbook import diff, random_graph
from fxbook.exporting import unguarded
from tests.passes import wrong


class Block(nn.Module):
    """A layer, a function, a method and a weight of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.linear(x)).mul(self.scale) + x


class Deep(nn.Module):
    """Many layers, each with the same functions."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = x + torch.tanh(torch.relu(layer(x)) * 2).mul(0.5)
        return x


@pytest.fixture
def module() -> fx.GraphModule:
    return fx.symbolic_trace(Block())


def node(module: fx.GraphModule, name: str) -> fx.Node:
    return next(node for node in module.graph.nodes if node.name == name)


# ---- alike -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_a_copy_does_not_differ(seed: int) -> None:
    module = random_graph(seed)
    found = diff(module, copy.deepcopy(module))
    assert not found and found.pairs == {name: name for name in found.pairs}
    assert len(found.pairs) == len(module.graph.nodes)


def test_the_same_object_is_told(module: fx.GraphModule) -> None:
    found = diff(module, module)
    assert not found and "keep a copy" in str(found)


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(TypeError, match=r"trace the model first"):
        diff(nn.Linear(2, 2), nn.Linear(2, 2))
    program = torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),))
    with pytest.raises(TypeError, match=r"got ExportedProgram: pass program\.module\(\)"):
        diff(program, program)
    assert not diff(module := program.module(), module)


# ---- what changed ----------------------------------------------------------------------------------------------------


def test_a_node_put_in_and_one_taken_out(module: fx.GraphModule) -> None:
    before = copy.deepcopy(module)
    relu = node(module, "relu")
    with module.graph.inserting_after(relu):
        gelu = module.graph.call_function(nn.functional.gelu, relu.args)
    relu.replace_all_uses_with(gelu)
    module.graph.erase_node(relu)
    found = diff(before, module)
    assert (found.added, found.removed) == (("gelu",), ("relu",))
    assert found.changed == {"mul": {"args": ("(relu, scale)", "(gelu, scale)")}} and not found.moved
    assert str(found).splitlines() == [
        "1 added, 1 removed, 1 changed; of 7 nodes",
        "  input x",
        "  linear = self.linear(x)",
        "- relu = torch.relu(linear)",
        "+ gelu = torch.nn.functional.gelu(linear)",
        "  scale = self.scale",
        "- mul = relu.mul(scale)",
        "+ mul = gelu.mul(scale)",
        "  add = operator.add(mul, x)",
        "  return add",
    ]


def test_a_target_and_arguments(module: fx.GraphModule) -> None:
    before = copy.deepcopy(module)
    node(module, "relu").target = torch.tanh
    node(module, "add").args = (node(module, "mul"), 1)
    node(module, "mul").args, node(module, "mul").kwargs = (node(module, "relu"),), {"other": node(module, "scale")}
    assert diff(before, module).changed == {
        "relu": {"target": ("torch.relu", "torch.tanh")},
        "mul": {"args": ("(relu, scale)", "(relu,)"), "kwargs": ("{}", "{'other': scale}")},
        "add": {"args": ("(mul, x)", "(mul, 1)")},
    }


def test_a_call_is_known_by_its_constants() -> None:
    before = fx.symbolic_trace(lambda x: torch.cat([x * 2, x * 3]))
    after = fx.symbolic_trace(lambda x: torch.cat([x * 3, x]))
    found = diff(before, after)
    assert found.pairs["mul"] == "mul_1" and found.removed == ("mul",)


def test_a_pass_that_renames_everything(module: fx.GraphModule) -> None:
    before = copy.deepcopy(module)
    for number, one in enumerate(module.graph.nodes):
        one.name = f"v{number}"
    found = diff(before, module)
    assert len(found.pairs) == 7 and not (found.added or found.removed or found.moved)
    assert {frozenset(aspects) for aspects in found.changed.values()} == {frozenset({"name"})}
    assert found.pairs["v2"] == "relu"


def test_names_counted_anew_mislead_nobody() -> None:
    """One more relu in front: the one that was `relu` is `relu_1` now."""
    before = fx.symbolic_trace(lambda x: torch.relu(torch.sin(x)).cos())
    after = fx.symbolic_trace(lambda x: torch.relu(torch.sin(torch.relu(x))).cos())
    found = diff(before, after)
    assert found.added == ("relu",) and found.removed == ()
    assert found.pairs["relu_1"] == "relu"
    assert found.changed == {
        "sin": {"args": ("(x,)", "(relu,)")},
        "relu_1": {"name": ("relu", "relu_1")},
    }


def test_a_node_at_another_place(module: fx.GraphModule) -> None:
    before = copy.deepcopy(module)
    node(module, "x").append(node(module, "scale"))
    found = diff(before, module)
    assert found.moved == ("scale",) and not (found.changed or found.added or found.removed)
    assert [line for line in str(found).splitlines() if "scale = " in line] == [
        "+ scale = self.scale  # moved",
        "- scale = self.scale  # moved",
    ]


def test_of_many_nodes_the_one_that_moved_is_named() -> None:
    module = fx.symbolic_trace(Deep(10))
    before = copy.deepcopy(module)
    node(module, "mul").prepend(node(module, "x"))
    assert diff(before, module).moved == ("x",)


def test_another_module_at_the_same_path(module: fx.GraphModule) -> None:
    before = copy.deepcopy(module)
    module.linear = nn.Linear(4, 4, bias=False)
    ((name, aspects),) = diff(before, module).changed.items()
    assert name == "linear" and set(aspects) == {"module"}
    assert aspects["module"][0].endswith("bias=True)") and aspects["module"][1].endswith("bias=False)")


def test_other_numbers_in_a_module_and_in_a_weight(module: fx.GraphModule) -> None:
    before = copy.deepcopy(module)
    with torch.no_grad():
        module.linear.weight.mul_(2)
        module.scale.mul_(2)
    found = diff(before, module)
    assert {name: set(aspects) for name, aspects in found.changed.items()} == {
        "linear": {"module"},
        "scale": {"module"},
    }
    assert "other numbers" in str(found)


def test_meta(module: fx.GraphModule) -> None:
    before = copy.deepcopy(module)
    node(module, "relu").meta["note"] = "kept"
    found = diff(before, module)
    assert found.changed == {"relu": {"meta": ("no note", "note='kept'")}} and found
    assert not diff(before, module, meta=False)
    assert "~ relu = torch.relu(linear)  # meta: no note → note='kept'" in str(found).splitlines()


def test_two_functions_of_one_name() -> None:
    def activation(x: Tensor) -> Tensor:
        return torch.relu(x)

    def graph(function: object) -> fx.Graph:
        made = fx.Graph()
        made.output(made.call_function(function, (made.placeholder("x"),)))
        return made

    first = activation

    def activation(x: Tensor) -> Tensor:
        return torch.tanh(x)

    assert set(diff(graph(first), graph(activation)).changed) == {"activation"}


def test_a_graph_module_inside_another() -> None:
    module = nn.Sequential()
    inner = fx.symbolic_trace(lambda x: torch.relu(x))
    module.add_module("inner", inner)
    graph = fx.Graph()
    graph.output(graph.call_module("inner", (graph.placeholder("x"),)))
    outer = fx.GraphModule(module, graph)
    before = copy.deepcopy(outer)
    outer.inner.graph.find_nodes(op="call_function", target=torch.relu)[0].target = torch.tanh
    found = diff(before, outer)
    assert (
        found
        and not found.changed
        and found.inside["inner"].changed == {"relu": {"target": ("torch.relu", "torch.tanh")}}
    )
    assert "inside inner:" in str(found) and "    + relu = torch.tanh(x)" in str(found).splitlines()
    assert found._repr_html_().count("fx-stepper") > diff(inner, outer.inner)._repr_html_().count("fx-stepper")


def test_a_traced_graph_and_an_exported_one_share_their_ends(module: fx.GraphModule) -> None:
    exported = unguarded(torch.export.export(Block().eval(), (torch.ones(2, 4),)))
    found = diff(module, exported, meta=False)
    assert found.pairs["x"] == "x" and found.pairs["output"] == "output"
    assert found.changed["relu"]["target"] == ("torch.relu", "torch.ops.aten.relu.default")


@pytest.mark.parametrize("seed", range(40))
def test_a_pass_is_told_apart_on_random_graphs(seed: int) -> None:
    """What is added, what is removed and what stays is each node, once."""
    before = random_graph(seed)
    after = wrong.merges_equal_calls(wrong.relu_by_clamp(copy.deepcopy(before)).graph_module).graph_module
    found = diff(before, after)
    names = {node.name for node in before.graph.nodes}, {node.name for node in after.graph.nodes}
    assert names[0] == {*found.removed, *found.pairs.values()} and names[1] == {*found.added, *found.pairs}
    assert set(found.removed) == names[0] - names[1] and set(found.added) == names[1] - names[0]


# ---- large graphs, and how it is shown -------------------------------------------------------------------------------


def test_the_text_of_a_large_graph_shows_what_changed() -> None:
    module = fx.symbolic_trace(Deep(50))
    before = copy.deepcopy(module)
    node(module, "tanh_20").target = torch.sin
    lines = str(diff(before, module)).splitlines()
    assert len(lines) < 12 and sum(line.startswith(("+", "-")) for line in lines) == 2
    left_out = sum(int(found[1]) for line in lines if (found := re.match(r"  … (\d+) nodes?$", line)))
    assert left_out + len(lines) - 1 - 2 - 1 == len(module.graph.nodes)


def test_the_picture_leads_from_before_to_after(module: fx.GraphModule) -> None:
    before = copy.deepcopy(module)
    wrong.relu_by_clamp(module)
    shown = diff(before, module)._repr_html_()
    assert "Before" in shown and "After" in shown and "relu is removed" in shown and "clamp_min is added" in shown
    assert "<script" in shown and "<svg" in shown
