"""Linear layers are found however they are written; those that must not change are left alone with a reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.fx.passes.shape_prop import ShapeProp
from torch.nn.utils import parametrizations

from fxbook.exporting import unguarded
from fxbook.surgery.linears import linears, operand, spell_out

WIDTH = 4


class Spelled(nn.Module):
    """A linear layer in three forms: as a module, as a function, and as GPT-2 writes it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(WIDTH, 5)
        self.function, self.stored = nn.Parameter(torch.randn(6, 5)), nn.Parameter(torch.randn(6, 7))
        self.bias = nn.Parameter(torch.randn(7))

    def forward(self, x: Tensor) -> Tensor:
        hidden = nn.functional.linear(weight=self.function, input=self.layer(x))
        return torch.addmm(self.bias, hidden, self.stored)


class Holding(nn.Module):
    """A module that calls a function with its layer and its input."""

    def __init__(self, forward: Callable[[nn.Linear, Tensor], Tensor], layer: nn.Module | None = None) -> None:
        super().__init__()
        self.layer = layer or nn.Linear(WIDTH, WIDTH)
        self._forward = forward

    def forward(self, x: Tensor) -> Tensor:
        return self._forward(self.layer, x)


def test_each_spelling_is_found() -> None:
    x = torch.randn(2, WIDTH)
    for module in (fx.symbolic_trace(Spelled()), unguarded(torch.export.export(Spelled(), (x,)))):
        known = linears(module)
        assert [(one.name, one.shape, one.transposed) for one in known.found] == [
            ("layer.weight", (5, WIDTH), False),
            ("function", (6, 5), False),
            ("stored", (7, 6), True),
        ]
        assert known.left_alone == {}
        function = known.found[1].calls[0]
        assert operand(function, "weight").target == "function"
        assert operand(function, "input") is known.found[0].calls[0]


def test_layers_are_found_by_the_last_part_of_any_name_of_their_weight() -> None:
    model = nn.ModuleDict({"q": nn.Linear(WIDTH, WIDTH), "k": nn.Linear(WIDTH, WIDTH), "v": nn.Linear(WIDTH, WIDTH)})
    model["v"].weight = model["q"].weight
    graph = fx.Graph(model)
    x = graph.placeholder("x")
    graph.output([graph.call_module(name, (x,)) for name in model])
    known = linears(fx.GraphModule(model, graph))
    for name in ("q", "v"):
        [one], told = known.called([name])
        assert one.names == ("q.weight", "v.weight") and len(one.calls) == 2
        assert told == {"v.weight": "it is q.weight, which is changed for both"}
    assert known.called(["k", "misspelt"])[1] == {"misspelt": "no linear layer has this name"}


def hooked() -> nn.Linear:
    layer = nn.Linear(WIDTH, WIDTH)
    layer.register_forward_hook(lambda *_: None)
    return layer


def turned(layer: nn.Linear, x: Tensor) -> Tensor:
    return nn.functional.linear(x, layer.weight) + x @ layer.weight


LEFT = {
    "reads it twice": (Holding(lambda layer, x: x + layer(layer.weight)), "reads the weight twice"),
    "another reader": (Holding(turned), "reads the weight too"),
    "a parametrized layer": (
        Holding(lambda layer, x: layer(x), parametrizations.weight_norm(nn.Linear(WIDTH, WIDTH))),
        "it is a ParametrizedLinear",
    ),
    "hooks": (Holding(lambda layer, x: layer(x), hooked()), "it has hooks"),
    "two forms": (
        Holding(lambda layer, x: torch.addmm(layer.bias, nn.functional.linear(x, layer.weight), layer.weight)),
        "in two forms",
    ),
}


@pytest.mark.parametrize("kind", LEFT)
def test_unchangeable_layers_are_left_alone(kind: str) -> None:
    module, reason = LEFT[kind]

    class Whole(fx.Tracer):
        def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
            return isinstance(m, nn.Linear) or super().is_leaf_module(m, module_qualified_name)

    known = linears(fx.GraphModule(module, Whole().trace(module)))
    assert known.found == ()
    [told] = known.left_alone.values()
    assert reason in told


def test_a_view_of_an_embedding_is_its_weight() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding, self.head = nn.Embedding(5, WIDTH), nn.Linear(5, WIDTH, bias=False)
            self.head.weight = nn.Parameter(self.embedding.weight.detach().T)

        def forward(self, tokens: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            return self.embedding(tokens), self.head(x)

    known = linears(fx.symbolic_trace(Tied()))
    assert known.found == () and "embedding" in known.left_alone["head.weight"]


def test_weights_have_meta_if_a_call_is_written_as_a_function() -> None:
    module = fx.symbolic_trace(nn.Sequential(nn.Linear(WIDTH, 5)))
    x = torch.randn(2, WIDTH)
    ShapeProp(module).propagate(x)
    mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())
    FakeTensorProp(module, mode).propagate(x)
    [call] = module.graph.find_nodes(op="call_module", target="0")
    call.meta["stack_trace"] = "the line of the model"
    weight, bias = spell_out(module, call).args[1:]
    for node, shape in ((weight, (5, WIDTH)), (bias, (5,))):
        assert node.meta["val"].shape == node.meta["tensor_meta"].shape == shape
        assert not any(isinstance(size, torch.SymInt) for size in node.meta["val"].shape)
        assert node.meta["stack_trace"] == "the line of the model"
