"""The effects that ``fxbook.surgery.effects`` reports for a call are those that it has in a run."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import fx, nn

from fxbook.surgery.effects import Effect, Memory, effect, has_generator, has_hooks, may_share
from press.versions.tested import is_proven

aten, functional = torch.ops.aten, nn.functional


class Calling(nn.Module):
    """A module that calls one layer."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Any) -> Any:
        return self.layer(x)


def call(program: Callable[..., Any] | nn.Module) -> fx.Node:
    """The last call in the traced program."""
    try:
        traced = fx.symbolic_trace(program)
    except Exception:
        if is_proven(torch.__version__):
            raise
        pytest.skip("this torch cannot trace it")
    call.kept = traced  # A node has only a weak reference to its module.
    return [node for node in traced.graph.nodes if node.op.startswith("call")][-1]


PURE = {
    "an addition": lambda x: x + 1,
    "a sort": lambda x: x.sort(),
    "relu, not in place": lambda x: functional.relu(x, False),
    "dropout in eval mode": lambda x: functional.dropout(x, 0.5, False),
    "attention without dropout": lambda x: functional.scaled_dot_product_attention(x, x, x),
    "a norm in eval mode": lambda x: functional.batch_norm(x, None, None, training=False),
    "a dropout operator that is off": lambda x: aten.dropout.default(x, 0.5, False),
}
EFFECTS = {
    "a method in place": (lambda x: x.add_(1), Effect.WRITES),
    "relu in place, by position": (lambda x: functional.relu(x, True), Effect.WRITES),
    "a given tensor for the result": (lambda x: torch.add(x, 1, out=x), Effect.WRITES),
    "an operator in place": (lambda x: aten.add_.Tensor(x, 1), Effect.WRITES),
    "a norm that trains": (lambda x: functional.batch_norm(x, x[0], x[0], training=True), Effect.WRITES),
    "a function that moves statistics": (lambda x: torch.batch_norm_update_stats(x, x[0], x[0], 0.1), Effect.WRITES),
    "a backward pass": (lambda x: x.backward(), Effect.WRITES),
    "a backward pass of autograd": (lambda x: torch.autograd.backward(x), Effect.UNKNOWN),
    "a method that differs from its ATen operator": (lambda x: x.name(), Effect.UNKNOWN),
    "random numbers": (lambda x: torch.rand_like(x), Effect.RANDOM),
    "a pool that uses random numbers": (lambda x: functional.fractional_max_pool2d(x, 2, output_size=1), Effect.RANDOM),
    "dropout": (lambda x: functional.dropout(x), Effect.RANDOM),
    "attention with dropout": (lambda x: functional.scaled_dot_product_attention(x, x, x, None, 0.1), Effect.RANDOM),
    "an assertion": (lambda x: aten._assert_tensor_metadata.default(x), Effect.CHECK),
}


@pytest.mark.parametrize("name", PURE)
def test_a_function_of_its_arguments_has_no_effect(name: str) -> None:
    assert effect(call(PURE[name])) is None


@pytest.mark.parametrize("name", EFFECTS)
def test_the_effect_of_a_call_is_reported(name: str) -> None:
    program, expected = EFFECTS[name]
    assert effect(call(program)) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (lambda x, draw: torch.bernoulli(x, generator=draw), True),
        (lambda x, draw: x.bernoulli(generator=draw), True),
        (lambda x, draw: torch.poisson(x, draw), True),
        (lambda x, draw: aten.bernoulli.default(x, generator=draw), True),
        (lambda x, draw: aten.rrelu.default(x, 0.1, 0.2, True, draw), True),
        (lambda x, draw: torch.bernoulli(x), False),
        (lambda x, draw: functional.dropout(x), False),
        (lambda x, draw: aten.bernoulli.default(x), False),
        (lambda x, draw: torch.add(x, draw), False),
    ],
)
def test_an_own_generator_is_recognised_by_position_and_by_name(program: Callable[..., Any], expected: bool) -> None:
    assert has_generator(call(program)) is expected


@pytest.mark.parametrize("target", [operator.setitem, operator.delitem, operator.iadd, operator.imul, operator.iconcat])
def test_an_operator_of_python_in_place_writes(target: Callable[..., Any]) -> None:
    graph = fx.Graph()
    assert effect(graph.call_function(target, (graph.placeholder("x"), 0, 1))) is Effect.WRITES


def of_another_library(x: Any) -> Any:
    return x


fx.wrap("of_another_library")


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (nn.Linear(2, 2), None),
        (nn.Dropout().eval(), None),
        (nn.Sequential(nn.Linear(2, 2), nn.ReLU()), None),
        (nn.ReLU(inplace=True), Effect.WRITES),
        (nn.Dropout(), Effect.RANDOM),
        (nn.BatchNorm1d(2), Effect.WRITES),
        (nn.BatchNorm1d(2).eval(), None),
        (nn.Embedding(2, 2, max_norm=1.0), Effect.WRITES),
        (torch.nn.utils.parametrizations.orthogonal(nn.Linear(2, 2)), Effect.UNKNOWN),
    ],
)
def test_a_layer_is_known_by_its_class_and_its_settings(layer: nn.Module, expected: Effect | None) -> None:
    class Whole(fx.Tracer):
        def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
            return True

    module = Calling(layer)
    traced = fx.GraphModule(module, Whole().trace(module))
    [node] = traced.graph.find_nodes(op="call_module", target="layer")
    assert effect(node) is expected


def test_an_unknown_call_is_reported_as_unknown() -> None:
    assert effect(call(lambda x: of_another_library(x))) is Effect.UNKNOWN


def test_a_change_of_mode_is_reported() -> None:
    graph = fx.Graph()
    for called in (torch._C._set_grad_enabled, torch.set_grad_enabled):
        assert effect(graph.call_function(called, (False,))) is Effect.MODE
    assert effect(graph.call_function(torch.manual_seed, (0,))) is Effect.MODE
    assert (
        effect(graph.call_function(torch.amp.autocast_mode._enter_autocast, ("cpu", None, True, None))) is Effect.MODE
    )


class Wrapped(nn.Module):
    """A layer, a counter, and a program whose exported graph has inner graphs."""

    def __init__(self, program: Callable[[Wrapped, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.register_buffer("count", torch.zeros(2))
        self.program = program

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.program(self, x)


def without_gradients(self: Wrapped, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return self.layer(x).sin()


def counting_what_is_drawn(self: Wrapped, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        drawn = functional.dropout(x)
        self.count.add_(1)
        return drawn * self.count


def one_side_draws(self: Wrapped, x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: functional.dropout(x), (x,))


HIGHER = {
    without_gradients: None,
    counting_what_is_drawn: Effect.WRITES,  # The strongest effect counts.
    one_side_draws: Effect.RANDOM,
}


@pytest.mark.parametrize("program", HIGHER, ids=lambda program: program.__name__)
def test_a_call_to_an_inner_graph_has_the_effects_of_its_calls(
    program: Callable[[Wrapped, torch.Tensor], torch.Tensor],
) -> None:
    module = torch.export.export(Wrapped(program), (torch.ones(2, 2),)).module()
    [call] = [node for node in module.graph.nodes if isinstance(node.target, torch._ops.HigherOrderOperator)]
    assert effect(call) == HIGHER[program]
    # A call with this effect may write to its argument.
    memory, [count] = Memory(module), module.graph.find_nodes(op="get_attr", target="count") or [None]
    assert count is None or memory.is_written(count) == (HIGHER[program] is Effect.WRITES)


@pytest.mark.parametrize(
    "change",
    [
        lambda layer: layer.register_forward_hook(lambda *_: None),
        lambda layer: setattr(layer, "forward", torch.neg),
    ],
)
def test_a_hook_or_a_forward_of_the_object_is_detected(change: Callable[[nn.Module], object]) -> None:
    layer = nn.Linear(2, 2)
    assert not has_hooks(call(Calling(layer)))
    change(layer)
    node = call(Calling(layer))
    assert has_hooks(node) and effect(node) is Effect.UNKNOWN


@pytest.mark.parametrize("kind", ["forward", "forward_pre", "full_backward", "full_backward_pre"])
def test_a_hook_on_all_layers_is_detected(kind: str) -> None:
    node = call(Calling(nn.Linear(2, 2)))
    with getattr(nn.modules.module, f"register_module_{kind}_hook")(lambda *_: None):
        assert has_hooks(node) and effect(node) is Effect.UNKNOWN
    assert not has_hooks(node)


# Programs and inputs; a run shows whether the result shares memory.
SHARING = {
    "view": lambda x: x.view(-1),
    "contiguous": lambda x: x.contiguous(),
    "an item": lambda x: x[0],
    "chunks": lambda x: torch.chunk(x, 2)[0],
    "expand": lambda x: x.expand(2, 2),
    "einsum": lambda x: torch.einsum("ij->ji", x),
    "conj_physical": lambda x: torch.conj_physical(x),
    "broadcast_tensors": lambda x: torch.broadcast_tensors(x, x)[0],
    "_unsafe_view": lambda x: aten._unsafe_view.default(x, [4]),
}
FRESH = {
    "addition": lambda x: x + 1,
    "clone": lambda x: x.clone(),
    "softmax": lambda x: functional.softmax(x, -1),
    "attention": lambda x: functional.scaled_dot_product_attention(x, x, x),
    "max_pool2d": lambda x: functional.max_pool2d(x[None], 1),
    "an operator": lambda x: aten.mm.default(x, x),
}


@pytest.mark.parametrize("name", SHARING)
def test_values_that_share_memory_in_a_run_are_reported_to_share_it(name: str) -> None:
    x = torch.ones(2, 2)
    result = SHARING[name](x)
    assert result.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert may_share(call(SHARING[name]))


@pytest.mark.parametrize("name", FRESH)
def test_values_that_are_reported_as_new_are_new(name: str) -> None:
    x = torch.ones(2, 2)
    assert FRESH[name](x).untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    assert not may_share(call(FRESH[name]))


@pytest.mark.parametrize(
    "program",
    [
        lambda x, y: x.chunk(2) + y.chunk(2),
        lambda x, y: torch.split(x, 1)[:1] + torch.unbind(y),
        lambda x, y: operator.add([x, x], torch.unbind(y)),
        lambda x, y: torch.chunk(x, 2) * 2,
        lambda x, y: operator.add(aten.split.Tensor(x, 1), (y,)),
    ],
)
def test_a_joined_list_has_the_tensors_of_its_parts(program: Callable[..., Any]) -> None:
    traced = fx.symbolic_trace(lambda x, y: program(x, y)[0].add_(1))
    [joined] = [node for node in traced.graph.nodes if node.name in ("add", "mul")]
    x = traced.graph.find_nodes(op="placeholder")[0]
    assert may_share(joined) and Memory(traced).is_written(x)
    for fresh in (lambda x: x + x.sin(), lambda x: x + x.max(), lambda x: torch.add(x.median(), x)):
        assert not may_share(call(fresh))


def test_a_node_that_replaces_two_is_written_and_returned_if_either_was() -> None:
    traced = fx.symbolic_trace(lambda x: (x.sin().add_(1), x.cos() + 1, x.tan()))
    sin, cos, tan = (next(node for node in traced.graph.nodes if node.name == name) for name in ("sin", "cos", "tan"))
    memory = Memory(traced)
    assert not memory.is_written(cos) and not memory.is_returned(cos)
    memory.merge(tan, cos)
    assert memory.is_returned(cos) and not memory.is_written(cos)
    memory.merge(cos, sin)
    assert all(memory.is_returned(node) and memory.is_written(node) for node in (sin, cos, tan))


def test_a_users_function_is_unknown_whatever_its_name() -> None:
    def _adapt(mean: torch.Tensor) -> torch.Tensor:
        return mean.add_(1)

    graph = fx.Graph()
    assert effect(graph.call_function(_adapt, (graph.placeholder("x"),))) is Effect.UNKNOWN
    assert effect(graph.call_function(torch.amp.autocast_mode._enter_autocast, ("cpu",))) is Effect.MODE
    assert effect(graph.call_function(torch._foreach_add_, ([graph.placeholder("y")], 1))) is Effect.WRITES


def test_writes_through_a_view_and_through_a_layer_are_found() -> None:
    class Writing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.other = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            hidden = torch.sin(x)
            kept = torch.cos(x)
            hidden.view(-1).add_(1)
            self.layer.weight.mul_(2)
            return self.layer(hidden) + self.other(kept)

    traced = fx.symbolic_trace(Writing())
    memory, nodes = Memory(traced), {node.name: node for node in traced.graph.nodes}
    assert {name for name in ("sin", "view", "cos", "layer", "other") if memory.is_written(nodes[name])} == {
        "sin",
        "view",
        "layer",
    }
    assert memory.is_written(traced.layer.weight)
    assert not memory.is_written(traced.other.weight)
    assert memory.is_returned(nodes["add"])
    assert not memory.is_returned(nodes["cos"])
