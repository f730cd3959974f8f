"""The pass of chapter 12 replaces only equal computations, and its filter accepts only what the fused norm computes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed  # Registers the operators of a quantised graph.
from functorch.compile import make_boxed_func
from torch import Tensor, fx, nn
from torch._dynamo.backends.common import aot_autograd
from torch.utils.checkpoint import checkpoint

from fxbook.surgery.effects import Effect
from fxbook.surgery.patterns import does, fuse_pattern
from tests.notebooks import from_notebook

pytestmark = pytest.mark.room(name="passes")

functional = nn.functional


class Noting(fx.Interpreter):
    """Stores the value of each node in its meta, where Dynamo stores an example."""

    def run_node(self, n: fx.Node) -> Any:
        n.meta["example_value"] = super().run_node(n)
        return n.meta["example_value"]


@pytest.mark.parametrize(
    ("width", "of_weight", "fits"),
    [(6, (6,), True), (6, (1,), False), (1, (4,), False), (6, (4, 6), False), (1, (1,), True)],
)
def test_a_norm_is_fused_if_its_weight_is_as_wide_as_its_input(
    width: int, of_weight: tuple[int, ...], fits: bool
) -> None:
    names = "rms_norm", "fused_rms_norm", "fits_rms_norm"
    rms_norm, fused_rms_norm, fits_rms_norm = from_notebook("12_patterns", *names)

    def norm(x: Tensor, weight: Tensor) -> Tensor:
        return rms_norm(x, weight, 1e-6, torch.float32)

    inputs = torch.rand(4, width), torch.rand(of_weight)
    module = fx.symbolic_trace(norm)
    Noting(module).run(*inputs)
    assert fuse_pattern(module, rms_norm, fused_rms_norm, filters=[fits_rms_norm]).modified is fits
    torch.testing.assert_close(module(*inputs), norm(*inputs))


def test_a_norm_whose_eps_is_a_tensor_is_not_fused() -> None:
    names = "rms_norm", "fused_rms_norm", "fits_rms_norm"
    rms_norm, fused_rms_norm, fits_rms_norm = from_notebook("12_patterns", *names)

    def norm(x: Tensor, weight: Tensor, eps: Tensor) -> Tensor:
        return rms_norm(x, weight, eps, torch.float32)

    module = fx.symbolic_trace(norm)
    Noting(module).run(torch.rand(4, 6), torch.rand(6), torch.rand(4, 1))
    assert not fuse_pattern(module, rms_norm, fused_rms_norm, filters=[fits_rms_norm]).modified


# ---- random numbers --------------------------------------------------------------------------------------------------


def drop(x: Tensor) -> Tensor:
    return functional.dropout(torch.tanh(x), 0.5, True)


def past_a_draw(x: Tensor, y: Tensor) -> Tensor:
    first = drop(x)
    second = functional.dropout(torch.relu(y), 0.5, True)
    return second + first


def before_a_draw(x: Tensor, y: Tensor) -> Tensor:
    first = drop(x) + 1
    return functional.dropout(torch.relu(y), 0.5, True) + first


def between_two_draws(x: Tensor, y: Tensor) -> Tensor:
    before = functional.dropout(y, 0.5, True)
    return functional.dropout(before + drop(x), 0.5, True)


@pytest.mark.parametrize(
    ("program", "fused"),
    [
        (past_a_draw, False),
        (before_a_draw, True),
        (between_two_draws, True),
    ],
)
def test_a_match_is_not_moved_across_random_numbers(program: Callable[..., Tensor], fused: bool) -> None:
    module, inputs = fx.symbolic_trace(program), (torch.ones(8, 8), torch.ones(8, 8))
    assert fuse_pattern(module, drop, drop).modified is fused
    assert torch.equal(seeded(module, *inputs), seeded(program, *inputs))


def seeded(program: Callable[..., Any], *inputs: Tensor) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return program(*inputs)


# ---- writes ----------------------------------------------------------------------------------------------------------


class Checkpointed(nn.Module):
    """A sine, a call that writes to the input of the sine, and the first user of the sine."""

    def __init__(self) -> None:
        super().__init__()
        self.part = fx.symbolic_trace(lambda x: x.add_(1) * 1)

    def forward(self, x: Tensor) -> Tensor:
        sine = torch.sin(x)
        return sine + checkpoint(self.part, x, use_reentrant=False)


def checkpointed() -> fx.GraphModule:
    """The module above, with the checkpoint as a call, as in chapter 16."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    sine = graph.call_function(torch.sin, (x,))
    part = graph.call_function(checkpoint, (graph.get_attr("part"), x), {"use_reentrant": False})
    graph.output(graph.call_function(torch.add, (sine, part)))
    return fx.GraphModule(Checkpointed(), graph)


def test_a_checkpoint_may_write() -> None:
    module, x = checkpointed(), torch.zeros(3)
    assert not fuse_pattern(module, lambda x: torch.sin(x), lambda x: torch.sin(x)).modified
    assert torch.equal(module(x.clone()), Checkpointed()(x.clone()))


FOREIGN = {
    checkpoint: 2,
    torch.distributed.all_reduce: 1,
    torch.manual_seed: 1,
    nn.utils.vector_to_parameters: 2,
}


@pytest.mark.parametrize("target", FOREIGN)
def test_a_function_with_unknown_effects_counts_as_writing(target: Callable[..., Any]) -> None:
    graph = fx.Graph()
    node = graph.call_function(target, (graph.placeholder("x"),) * FOREIGN[target])
    graph.owning_module = nn.Module()
    assert does(node) in (Effect.WRITES, Effect.MODE, Effect.UNKNOWN)


def statistics(x: Tensor, state: Tensor) -> Tensor:
    sine = torch.sin(state)
    torch.batch_norm_update_stats(x, state, None, 0.5)
    return sine + x


def test_updating_statistics_counts_as_writing() -> None:
    module = fx.symbolic_trace(statistics)
    assert not fuse_pattern(module, lambda x: torch.sin(x), lambda x: torch.sin(x)).modified
    x = torch.rand(4, 3)
    assert torch.equal(module(x, torch.zeros(3)), statistics(x, torch.zeros(3)))


# ---- operators of another library ------------------------------------------------------------------------------------


@torch.library.custom_op("chapter12::next_of", mutates_args=())
def next_of(x: Tensor) -> Tensor:
    return x + 1


@torch.library.custom_op("chapter12::step_", mutates_args={"x"})
def step_(x: Tensor) -> None:
    x.add_(1)


@torch.library.custom_op("chapter12::stepped", mutates_args={"x"})
def stepped(x: Tensor) -> Tensor:
    return x.add_(1).clone()


@torch.library.custom_op("chapter12::note", mutates_args=())
def note(x: Tensor) -> None:
    pass


@torch.library.custom_op("chapter12::noted", mutates_args=())
def noted(x: Tensor) -> Tensor:
    return x + 1


noted.register_effect(torch.library.EffectType.ORDERED)


@torch.library.custom_op("chapter12::noise", mutates_args=(), tags=(torch.Tag.nondeterministic_seeded,))
def noise(x: Tensor) -> Tensor:
    return x + torch.rand_like(x)


ops = torch.ops.chapter12


@pytest.mark.parametrize(
    ("first", "second", "fused"),
    [
        (torch.sin, ops.next_of.default, True),
        (torch.sin, ops.next_of, True),
        (torch.sin, ops.noise.default, True),
        (torch.sin, ops.step_.default, False),
        (torch.sin, ops.step_, False),
        (torch.sin, ops.stepped, False),
        (torch.sin, ops.note.default, False),
        (torch.sin, ops.noted.default, False),
        (torch.sin, ops.noted, False),
        (ops.next_of.default, ops.next_of.default, True),
        (ops.next_of.default, ops.step_.default, False),
        (ops.noise.default, ops.next_of.default, True),
        (ops.noise.default, torch.rand_like, False),
        (ops.noise, torch.rand_like, False),
    ],
)
def test_an_operator_of_another_library_does_what_it_declares(
    first: Callable[..., Any], second: Callable[..., Any], fused: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def program(x: Tensor, y: Tensor) -> Tensor:
        early = first(x)
        second(y)
        return early + y

    caplog.set_level(logging.INFO, "fxbook.surgery.patterns")
    module = fx.symbolic_trace(program)
    assert fuse_pattern(module, lambda x: first(x), lambda x: first(x)).modified is fused
    assert [record.levelname for record in caplog.records] == ["INFO"] * (not fused)
    ones = torch.ones(3), torch.ones(3)
    assert torch.equal(seeded(module, *ones), seeded(program, torch.ones(3), torch.ones(3)))


def test_a_linear_layer_takes_its_quantised_inputs() -> None:
    dequantised = torch.ops.quantized_decomposed.dequantize_per_tensor.default
    linear = torch.ops.aten.linear.default

    def layer(x: Tensor, scale: float, zero: int, weight: Tensor, of_weight: float) -> Tensor:
        wide = dequantised(x, scale, zero, -128, 127, torch.int8)
        return linear(wide, dequantised(weight, of_weight, 0, -128, 127, torch.int8))

    def two(x: Tensor, one: Tensor, other: Tensor) -> Tensor:
        return layer(x, 0.5, 3, one, 0.25) - layer(x, 0.5, 3, other, 0.125)

    module = fx.symbolic_trace(two)
    fused = fuse_pattern(module, layer, lambda x, scale, zero, weight, of_weight: linear(x, weight) * scale)
    assert fused.modified
    assert not module.graph.find_nodes(op="call_function", target=dequantised)


@pytest.mark.parametrize(("layer", "fused"), [(nn.Linear(3, 3), True), (nn.Dropout(), True), (nn.ReLU(True), False)])
def test_a_match_moves_across_a_layer_of_torch_only_if_that_writes_nothing(layer: nn.Module, fused: bool) -> None:
    class Beside(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            sine = torch.sin(x)
            return self.layer(y) + sine

    module = fx.symbolic_trace(Beside())
    assert fuse_pattern(module, lambda x: torch.sin(x), lambda x: torch.sin(x)).modified is fused


def test_a_match_moves_across_an_operator_that_returns_what_it_would_write() -> None:
    class Stepping(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            sine = torch.sin(x)
            hidden = y * 2
            step_(hidden)
            return sine + hidden

    program = torch.export.export(Stepping(), (torch.ones(2), torch.ones(2)))
    sine = torch.ops.aten.sin.default
    for graph, fused in ((program, False), (program.run_decompositions({}), True)):
        module = graph.module(check_guards=False)
        assert fuse_pattern(module, lambda x: sine(x), lambda x: sine(x)).modified is fused
        torch.testing.assert_close(module(torch.ones(2), torch.ones(2)), Stepping()(torch.ones(2), torch.ones(2)))


def test_the_graph_of_a_replacement_is_not_changed() -> None:
    graph = fx.symbolic_trace(lambda x: torch.cos(x)).graph
    traced = fx.symbolic_trace(lambda x: torch.sin(x))
    traced.graph.find_nodes(op="call_function", target=torch.sin)[0].meta["custom"] = {"stage": "wave"}
    assert fuse_pattern(traced, lambda x: torch.sin(x), graph).modified
    [cosine] = traced.graph.find_nodes(op="call_function", target=torch.cos)
    assert cosine.meta["custom"] == {"stage": "wave"}
    assert not any("custom" in node.meta for node in graph.nodes)


def test_a_filter_that_rejects_a_match_is_named(caplog: pytest.LogCaptureFixture) -> None:
    def never(*_: Any) -> bool:
        return False

    caplog.set_level(logging.INFO, "fxbook.surgery.patterns")
    traced = fx.symbolic_trace(lambda x: torch.sin(x))
    assert not fuse_pattern(traced, lambda x: torch.sin(x), lambda x: torch.cos(x), filters=[never]).modified
    assert caplog.messages == ["sin stays: never rejects it"]


# ---- the limits that the page states ---------------------------------------------------------------------------------


def test_a_replacement_without_new_memory_is_written_after_its_first_user() -> None:
    def program(x: Tensor, y: Tensor) -> Tensor:
        kept = x.clone()
        total = kept + y
        x.add_(1)
        return kept * total

    for replacement, same in ((lambda x: x, False), (lambda x: x + 0, True)):
        module = fx.symbolic_trace(program)
        assert fuse_pattern(module, lambda x: x.clone(), replacement).modified
        assert torch.equal(module(torch.ones(1), torch.ones(1)), program(torch.ones(1), torch.ones(1))) is same


def test_an_input_that_is_computed_after_the_first_user_of_a_match() -> None:
    def program(x: Tensor, y: Tensor) -> Tensor:
        first = torch.sin(x)
        user = torch.neg(first)
        later = torch.exp(y)
        return user + first * later

    def pattern(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        first = torch.sin(x)
        return first, first * y

    def replacement(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return torch.cos(x), torch.cos(x) - y

    traced, x, y = fx.symbolic_trace(program), torch.randn(3), torch.randn(3)
    assert fuse_pattern(traced, pattern, replacement).modified
    torch.testing.assert_close(traced(x, y), -torch.cos(x) + torch.cos(x) - torch.exp(y))


def test_a_backend_can_fuse_before_the_backward_graph_is_derived() -> None:
    inner = aot_autograd(fw_compiler=lambda module, _: make_boxed_func(module))

    def backend(module: fx.GraphModule, given: list[Tensor]) -> Any:
        assert fuse_pattern(module, lambda x: torch.sin(x), lambda x: torch.cos(x)).modified
        return inner(module, given)

    torch.compiler.reset()
    leaf = torch.ones(2, requires_grad=True)
    compiled = torch.compile(lambda x: torch.sin(x) * torch.cos(x), backend=backend)
    for result in (compiled(leaf), torch.cos(leaf) ** 2):
        [gradient] = torch.autograd.grad(result.sum(), leaf)
        torch.testing.assert_close(gradient, -2 * torch.cos(leaf) * torch.sin(leaf))
