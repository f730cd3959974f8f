"""The pass of chapter 12 replaces only where numbers stay the same, its filter only what the fused norm computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import checkpoint

from fxbook.exporting import unguarded
from tests.taken import taken

pytestmark = pytest.mark.room(name="passes")

functional = nn.functional


class Noting(fx.Interpreter):
    """Leave the value of each node in its notes, as Dynamo leaves an example."""

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
    names = "rms_norm", "fused_rms_norm", "fits_rms_norm", "fuse_pattern"
    rms_norm, fused_rms_norm, fits_rms_norm, fuse_pattern = taken("12_patterns", *names)

    def norm(x: Tensor, weight: Tensor) -> Tensor:
        return rms_norm(x, weight, 1e-6, torch.float32)

    inputs = torch.rand(4, width), torch.rand(of_weight)
    module = fx.symbolic_trace(norm)
    Noting(module).run(*inputs)
    assert fuse_pattern(module, rms_norm, fused_rms_norm, filters=[fits_rms_norm]).modified is fits
    torch.testing.assert_close(module(*inputs), norm(*inputs))


@pytest.mark.parametrize("weight", [lambda x: 2.0, lambda x: x.size(0)], ids=["a number", "a size"])
def test_a_norm_with_a_number_for_a_weight_is_refused(weight: Callable[[Tensor], Any]) -> None:
    names = "rms_norm", "fused_rms_norm", "fits_rms_norm", "fuse_pattern"
    rms_norm, fused_rms_norm, fits_rms_norm, fuse_pattern = taken("12_patterns", *names)
    module = fx.symbolic_trace(lambda x: rms_norm(x, weight(x), 1e-6, torch.float32))
    Noting(module).run(torch.rand(4, 6))
    assert not fuse_pattern(module, rms_norm, fused_rms_norm, filters=[fits_rms_norm]).modified


@pytest.mark.parametrize(
    ("x", "residual"),
    [
        (torch.rand(4, 2, 8).transpose(0, 1), torch.rand(4, 2, 8).transpose(0, 1)),
        (torch.rand(1, 8), torch.rand(4, 2, 8)),
    ],
    ids=["not contiguous", "broadcast"],
)
def test_the_operator_returns_what_its_fake_function_says(x: Tensor, residual: Tensor) -> None:
    add_rms_norm = taken("12_patterns", "add_rms_norm")
    results = torch.library.opcheck(add_rms_norm, (x, residual, torch.ones(8), 1e-6))
    assert set(results.values()) == {"SUCCESS"}


# ---- random numbers --------------------------------------------------------------------------------------------------


def drop(x: Tensor) -> Tensor:
    return functional.dropout(torch.tanh(x), 0.5, True)


def past_a_draw(x: Tensor, y: Tensor) -> Tensor:
    first = drop(x)
    second = functional.dropout(torch.relu(y), 0.5, True)
    return second + first


def past_a_draw_that_torch_has_no_operator_for(x: Tensor, y: Tensor) -> Tensor:
    first = drop(x)
    second = functional.dropout1d(torch.relu(y), 0.5, True)
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
        (past_a_draw_that_torch_has_no_operator_for, False),
        (before_a_draw, True),
        (between_two_draws, True),
    ],
)
def test_a_match_passes_no_draw(program: Callable[..., Tensor], fused: bool) -> None:
    module, inputs = fx.symbolic_trace(program), (torch.ones(8, 8), torch.ones(8, 8))
    assert taken("12_patterns", "fuse_pattern")(module, drop, drop).modified is fused
    assert torch.equal(seeded(module, *inputs), seeded(program, *inputs))


def test_a_user_that_draws_is_not_sorted_behind_another_draw() -> None:
    def two(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        sine = torch.sin(x)
        return sine, torch.add(sine, y)

    def at_once(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        both = torch.stack([torch.sin(x), torch.sin(x) + y])
        return both[0], both[1]

    def program(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        sine = torch.sin(x)
        early = functional.dropout(sine, 0.5, True)
        return early, torch.add(sine, functional.dropout(y, 0.5, True))

    module, inputs = fx.symbolic_trace(program), (torch.ones(8, 8), torch.ones(8, 8))
    taken("12_patterns", "fuse_pattern")(module, two, at_once)
    torch.testing.assert_close(seeded(module, *inputs), seeded(program, *inputs))


def seeded(program: Callable[..., Any], *inputs: Tensor) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return program(*inputs)


# ---- writes ----------------------------------------------------------------------------------------------------------


class Checkpointed(nn.Module):
    """A sine, a call of a part that writes into what the sine reads, and the first user of the sine."""

    def __init__(self) -> None:
        super().__init__()
        self.part = fx.symbolic_trace(lambda x: x.add_(1) * 1)

    def forward(self, x: Tensor) -> Tensor:
        sine = torch.sin(x)
        return sine + checkpoint(self.part, x, use_reentrant=False)


def checkpointed() -> fx.GraphModule:
    """The module above with the checkpoint as a call, as chapter 16 writes it."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    sine = graph.call_function(torch.sin, (x,))
    part = graph.call_function(checkpoint, (graph.get_attr("part"), x), {"use_reentrant": False})
    graph.output(graph.call_function(torch.add, (sine, part)))
    return fx.GraphModule(Checkpointed(), graph)


def test_a_checkpoint_may_write() -> None:
    module, x = checkpointed(), torch.zeros(3)
    assert not taken("12_patterns", "fuse_pattern")(module, lambda x: torch.sin(x), lambda x: torch.sin(x)).modified
    assert torch.equal(module(x.clone()), Checkpointed()(x.clone()))


FOREIGN = {
    checkpoint: 2,
    torch.distributed.all_reduce: 1,
    torch.manual_seed: 1,
    nn.utils.vector_to_parameters: 2,
}


@pytest.mark.parametrize("target", FOREIGN)
def test_a_function_that_does_not_compute_alone_counts_as_writing(target: Callable[..., Any]) -> None:
    graph = fx.Graph()
    node = graph.call_function(target, (graph.placeholder("x"),) * FOREIGN[target])
    graph.owning_module = nn.Module()
    assert taken("12_patterns", "writes")(node)


def statistics(x: Tensor, state: Tensor) -> Tensor:
    sine = torch.sin(state)
    torch.batch_norm_update_stats(x, state, None, 0.5)
    return sine + x


def statistics_by_position(x: Tensor, state: Tensor) -> Tensor:
    sine = torch.sin(state)
    torch.native_batch_norm(x, None, None, state, torch.ones(3), True, 0.5, 1e-5)
    return sine + x


@pytest.mark.parametrize("program", [statistics, statistics_by_position])
def test_statistics_that_move_are_written(program: Callable[..., Tensor]) -> None:
    module = fx.symbolic_trace(program)
    assert not taken("12_patterns", "fuse_pattern")(module, lambda x: torch.sin(x), lambda x: torch.sin(x)).modified
    x = torch.rand(4, 3)
    assert torch.equal(module(x, torch.zeros(3)), program(x, torch.zeros(3)))


OF_TORCH = {
    **dict.fromkeys([torch.relu, functional.relu, functional.gelu, functional.dropout, torch.sym_not], 1),
    **dict.fromkeys([torch.special.erf, torch.fft.fft, torch.linalg.det], 1),
    **dict.fromkeys([functional.linear, torch.Tensor.add, torch.split], 2),
}


@pytest.mark.parametrize("target", OF_TORCH)
def test_a_function_of_torch_that_writes_nothing_is_known(target: Callable[..., Any]) -> None:
    graph = fx.Graph()
    node = graph.call_function(target, (graph.placeholder("x"),) * OF_TORCH[target])
    graph.owning_module = nn.Module()
    assert not taken("12_patterns", "writes")(node)


# ---- the limits that the page tells ----------------------------------------------------------------------------------


def test_a_replacement_without_new_memory_is_written_behind_its_first_user() -> None:
    def program(x: Tensor, y: Tensor) -> Tensor:
        kept = x.clone()
        total = kept + y
        x.add_(1)
        return kept * total

    fuse_pattern = taken("12_patterns", "fuse_pattern")
    for replacement, same in ((lambda x: x, False), (lambda x: x + 0, True)):
        module = fx.symbolic_trace(program)
        assert fuse_pattern(module, lambda x: x.clone(), replacement).modified
        assert torch.equal(module(torch.ones(1), torch.ones(1)), program(torch.ones(1), torch.ones(1))) is same


def test_a_graph_inside_is_not_searched() -> None:
    class Outer(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            with torch.no_grad():
                return torch.sin(x)

    with torch.enable_grad():
        module = unguarded(torch.export.export(Outer(), (torch.ones(2, requires_grad=True),)))
    sine = torch.ops.aten.sin.default
    pattern = make_fx(torch.sin)(torch.ones(2))
    assert any(node.target is sine for part in module.children() for node in part.graph.nodes)
    assert not taken("12_patterns", "fuse_pattern")(module, pattern, lambda x: torch.cos(x)).modified


def test_a_replacement_that_returns_a_number_is_refused() -> None:
    module = fx.symbolic_trace(lambda x: x + x.size(0) * 2)
    with pytest.raises(ValueError, match="returns no numbers"):
        taken("12_patterns", "fuse_pattern")(module, lambda x: x.size(0) * 2, lambda x: 3.0)
    assert torch.equal(module(torch.ones(2)), torch.full((2,), 5.0))
