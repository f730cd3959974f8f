"""A diff shows what a pass changed, whatever the names of nodes, and leaves both graphs unchanged."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable

import pytest
import torch
from pytest_regressions.file_regression import FileRegressionFixture
from torch import Tensor, fx, nn
from torch.ao.quantization import get_default_qconfig_mapping
from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx
from torch.fx.experimental import const_fold, optimization
from torch.fx.experimental.normalize import NormalizeArgs, NormalizeOperators
from torch.fx.experimental.schema_type_annotation import AnnotateTypesWithSchema
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.passes.split_module import split_module

from fxbook import diff, random_graph
from fxbook.exporting import unguarded
from tests.passes import wrong


class Block(nn.Module):
    """A model with a layer, a function, a method and a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.linear(x)).mul(self.scale) + x


class Deep(nn.Module):
    """Many layers, each followed by the same functions."""

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


# ---- equal graphs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_a_copy_does_not_differ(seed: int) -> None:
    module = random_graph(seed)
    found = diff(module, copy.deepcopy(module))
    assert not found and found.pairs == {name: name for name in found.pairs}
    assert len(found.pairs) == len(module.graph.nodes)


def test_comparing_an_object_with_itself_gives_advice(module: fx.GraphModule) -> None:
    found = diff(module, module)
    assert not found and "keep a copy" in str(found)


def test_non_graphs_are_rejected() -> None:
    with pytest.raises(TypeError, match=r"trace the model first"):
        diff(nn.Linear(2, 2), nn.Linear(2, 2))
    program = torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),))
    with pytest.raises(TypeError, match=r"got ExportedProgram: pass program\.module\(\)"):
        diff(program, program)
    assert not diff(module := program.module(), module)


# ---- what changed ----------------------------------------------------------------------------------------------------


def another_function(module: fx.GraphModule) -> None:
    relu = node(module, "relu")
    with module.graph.inserting_after(relu):
        gelu = module.graph.call_function(nn.functional.gelu, relu.args)
    relu.replace_all_uses_with(gelu)
    module.graph.erase_node(relu)


def arguments_of_two(module: fx.GraphModule) -> None:
    node(module, "relu").target = torch.tanh
    node(module, "add").args = (node(module, "mul"), 1)
    node(module, "mul").args, node(module, "mul").kwargs = (node(module, "relu"),), {"other": node(module, "scale")}


def every_name(module: fx.GraphModule) -> None:
    for number, one in enumerate(module.graph.nodes):
        one.name = f"v{number}"


def names_counted_anew(module: fx.GraphModule) -> None:
    """Add a relu at the beginning, so that `relu` becomes `relu_1`."""
    x, relu = node(module, "x"), node(module, "relu")
    with module.graph.inserting_after(x):
        first = module.graph.call_function(torch.relu, (x,))
    x.replace_all_uses_with(first, delete_user_cb=lambda user: user is not first)
    relu.name, first.name = "relu_2", "relu"


def other_numbers(module: fx.GraphModule) -> None:
    for weight in (module.linear.weight, module.scale):
        weight.data.mul_(2)


EDITS: list[Callable[[fx.GraphModule], object]] = [
    another_function,
    arguments_of_two,
    every_name,
    names_counted_anew,
    other_numbers,
    lambda module: node(module, "x").append(node(module, "scale")),
    lambda module: setattr(module, "linear", nn.Linear(4, 4, bias=False)),
    lambda module: node(module, "relu").meta.update(note="kept"),
]


def test_what_an_edit_changed(file_regression: FileRegressionFixture) -> None:
    found = []
    for edit in EDITS:
        module = fx.symbolic_trace(Block())
        before = copy.deepcopy(module)
        edit(module)
        found.append(f"{edit.__name__}\n{diff(before, module)}\n{diff(before, module).changed}\n")
    file_regression.check("\n".join(found), basename="edits")


def test_meta_can_be_left_out(module: fx.GraphModule) -> None:
    before = copy.deepcopy(module)
    node(module, "relu").meta["note"] = "kept"
    assert diff(before, module) and not diff(before, module, meta=False)


def test_calls_are_matched_by_their_constants() -> None:
    before = fx.symbolic_trace(lambda x: torch.cat([x * 2, x * 3]))
    after = fx.symbolic_trace(lambda x: torch.cat([x * 3, x]))
    found = diff(before, after)
    assert found.pairs["mul"] == "mul_1" and found.removed == ("mul",)


def test_of_many_nodes_the_one_that_moved_is_named() -> None:
    module = fx.symbolic_trace(Deep(10))
    before = copy.deepcopy(module)
    node(module, "mul").prepend(node(module, "x"))
    assert diff(before, module).moved == ("x",)


def test_two_functions_with_the_same_name_differ() -> None:
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


def test_a_traced_and_an_exported_graph_share_input_and_output(module: fx.GraphModule) -> None:
    exported = unguarded(torch.export.export(Block().eval(), (torch.ones(2, 4),)))
    found = diff(module, exported, meta=False)
    assert found.pairs["x"] == "x" and found.pairs["output"] == "output"
    assert found.changed["relu"]["target"] == ("torch.relu", "torch.ops.aten.relu.default")


@pytest.mark.parametrize("seed", range(40))
def test_every_node_of_a_random_graph_is_accounted_for(seed: int) -> None:
    """Each node is either added, removed or kept."""
    before = random_graph(seed)
    after = wrong.merges_equal_calls(wrong.relu_by_clamp(copy.deepcopy(before)).graph_module).graph_module
    found = diff(before, after)
    names = {node.name for node in before.graph.nodes}, {node.name for node in after.graph.nodes}
    assert names[0] == {*found.removed, *found.pairs.values()} and names[1] == {*found.added, *found.pairs}
    assert set(found.removed) == names[0] - names[1] and set(found.added) == names[1] - names[0]


# ---- large graphs and display ----------------------------------------------------------------------------------------


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


# ---- foreign meta ----------------------------------------------------------------------------------------------------


class Refuses:
    """An object that looks like a tensor, but raises an error whatever is done with it."""

    __hash__ = None

    @property
    def shape(self) -> None:
        raise RuntimeError("shape")

    def __eq__(self, other: object) -> bool:
        raise ValueError("==")

    def __repr__(self) -> str:
        raise ZeroDivisionError("repr")


class LikeATensor:
    shape = dtype = 5


def in_itself() -> list:
    inner: list = []
    inner.append(inner)
    return inner


@pytest.mark.parametrize(
    "value",
    [
        *(torch.Tensor, nn.Linear, LikeATensor, LikeATensor(), Refuses, Refuses(), in_itself(), float("nan")),
        *(torch.ones(2), [torch.ones(2), {"a": torch.ones(2)}], torch.ones(2).to_sparse(), torch.ones(2).to("meta")),
        torch.nested.nested_tensor([torch.ones(2)]),
        torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("key", ["any", "val", "tensor_meta", "nn_module_stack"])
def test_meta_may_hold_anything(module: fx.GraphModule, key: str, value: object) -> None:
    after = copy.deepcopy(module)
    for one in after.graph.nodes:
        one.meta[key] = value
    assert len(diff(module, after).changed) == len(diff(after, module).changed) == len(after.graph.nodes)
    assert key in str(diff(module, after)) and diff(module, after)._repr_html_()
    assert not diff(after, copy.deepcopy(after))


def conv_norm() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout()).eval()


IMAGE = torch.ones(1, 3, 8, 8)


def with_shapes(module: nn.Module) -> fx.GraphModule:
    traced = fx.symbolic_trace(module)
    ShapeProp(traced).propagate(IMAGE)
    return traced


def prepared() -> fx.GraphModule:
    return prepare_fx(conv_norm(), get_default_qconfig_mapping("fbgemm"), (IMAGE,))


@pytest.mark.parametrize(
    "made",
    [
        lambda: with_shapes(conv_norm()),
        lambda: with_shapes(optimization.fuse(conv_norm())),
        lambda: with_shapes(optimization.remove_dropout(conv_norm())),
        lambda: NormalizeOperators(with_shapes(conv_norm())).transform(),
        lambda: NormalizeArgs(with_shapes(conv_norm())).transform(),
        lambda: AnnotateTypesWithSchema(with_shapes(conv_norm())).transform(),
        lambda: split_module(with_shapes(conv_norm()), conv_norm(), lambda node: int(node.name > "_2")),
        lambda: const_fold.split_const_subgraphs(with_shapes(conv_norm())),
        prepared,
        lambda: convert_fx(prepared()),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_passes_of_torch_write_can_be_compared(made: Callable[[], fx.GraphModule]) -> None:
    before, after = with_shapes(conv_norm()), made()
    for one, other in ((before, after), (after, before), (fx.symbolic_trace(conv_norm()), after)):
        found = diff(one, other)
        assert str(found) and found._repr_html_()


def test_a_difference_in_the_meta_of_all_nodes_is_shown_once() -> None:
    before = fx.symbolic_trace(Deep(5))
    after = copy.deepcopy(before)
    for at, one in enumerate(after.graph.nodes):
        one.meta |= {"region": 0, "from": at}
    node(after, "relu_2").target = torch.sigmoid
    found = diff(before, after)
    several = "from=…, different for each node"
    assert found.everywhere == {"region": ("no region", "region=0"), "from": ("no from", several)}
    assert found.changed == {"relu_2": {"target": ("torch.relu", "torch.sigmoid")}}
    lines = str(found).splitlines()
    assert lines[0] == "1 changed, 2 of meta in all nodes; of 32 nodes" and len(lines) == 11
    assert lines[1] == "~ meta of all nodes: no region → region=0"
    assert f"meta of all nodes: no from → {several}" in found._repr_html_()
    node(after, "relu_2").meta.clear()
    assert not diff(before, after).everywhere, "one node lacks the key"
    assert not diff(before, after, meta=False).everywhere
