"""What chapters 05 to 09 say about their recipes and torch.fx also holds for other models."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
import torch
from packaging.version import Version
from torch import Tensor, fx, nn
from torch.fx.experimental.proxy_tensor import make_fx

from tests.notebooks import from_notebook

pytestmark = pytest.mark.room(name="passes")

_TRACING, _ARGUMENTS, _INPUTS = "05_control_flow_limits", "06_kwargs", "07_placeholder"
ONES = torch.ones(2)


# ---- 05: trace -------------------------------------------------------------------------------------------------------


class Scaled(nn.Module):
    def forward(self, x: Tensor, factor: int = 2) -> Tensor:
        return x * factor


def _wrapped(model: Scaled) -> Callable[..., Tensor]:
    forward = model.forward
    return lambda *inputs, **named: forward(*inputs, **named) * 100


@pytest.mark.parametrize("assigned", [lambda model: functools.partial(model.forward, factor=100), _wrapped])
def test_a_forward_assigned_to_the_object_is_ignored_at_the_root(assigned: Callable[[Scaled], object]) -> None:
    trace, prove = from_notebook(_TRACING, "trace", "prove")
    model = Scaled()
    model.forward = assigned(model)
    holder = nn.Sequential(model)
    assert model(ONES)[0] > 2
    assert torch.equal(trace(model)(ONES), ONES * 2)
    assert torch.equal(trace(model, fixed={"factor": 3})(ONES, 3), ONES * 3)
    assert torch.equal(fx.symbolic_trace(model)(ONES), ONES * 2)
    with pytest.raises(AssertionError, match="not close"):
        prove(trace(model), model, (ONES,))
    whole = fx.GraphModule(holder, fx.Tracer().trace(holder))
    assert torch.equal(whole(ONES), holder(ONES)), "the forward of a submodule is used"


class Shifted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("shift", torch.ones(1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.shift


def test_before_torch_2_14_a_new_module_also_saves_non_persistent_buffers() -> None:
    saved = [] if Version(torch.__version__) >= Version("2.14") else ["shift"]
    trace = from_notebook(_TRACING, "trace")
    traced = trace(Shifted())
    assert [*Shifted().state_dict()] == [] and [*traced.state_dict()] == saved
    traced = fx.symbolic_trace(Scaled())
    traced.register_buffer("shift", torch.ones(1), persistent=False)
    with traced.graph.inserting_before(traced.graph.output_node()):
        traced.graph.output_node().args = (traced.graph.get_attr("shift"),)
    assert [*traced.state_dict()] == []
    assert [*fx.GraphModule(traced, traced.graph).state_dict()] == saved


# ---- 05: prove -------------------------------------------------------------------------------------------------------


class Linear(nn.Module):
    """Two layers, with the same weights in each subclass."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.left, self.right = nn.Linear(2, 2), nn.Linear(2, 2)


class Detached(Linear):
    second = True

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.left(x)
        return (hidden, hidden.detach()) if self.second else (hidden.detach(), hidden)


class Doubled(Linear):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.left(x)
        return hidden, 2 * hidden


class Moved(Linear):
    """Returns the results of Doubled, but with swapped gradients."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.left(x)
        return 2 * hidden - hidden.detach(), hidden + hidden.detach()


def test_swapped_gradients_are_no_proof() -> None:
    trace, prove = from_notebook(_TRACING, "trace", "prove")
    swapped = Detached()
    swapped.second = False
    with pytest.raises(AssertionError):
        prove(trace(swapped), Detached(), (ONES,))
    with pytest.raises(AssertionError, match="not close"):
        prove(trace(Moved()), Doubled(), (ONES,))
    for model in (Detached(), Doubled(), Moved()):
        prove(trace(model), model, (ONES,), (-ONES,))


class Remembering(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))
        self.register_buffer("first", None)

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x * self.calls


def test_a_proof_leaves_both_modules_as_they_were() -> None:
    prove = from_notebook(_TRACING, "prove")
    models = Remembering(), Remembering().eval()
    prove(*models, (ONES,), (-ONES,))
    assert [(model.calls.item(), model.training) for model in models] == [(0, True), (0, False)]


# ---- 06 --------------------------------------------------------------------------------------------------------------


def test_matches_that_overlap_are_not_replaced() -> None:
    module = fx.symbolic_trace(lambda x: x.neg().neg().neg())
    assert len(fx.replace_pattern(module, lambda x: x.neg().neg(), lambda x: x.neg())) == 1
    assert len(module.graph.find_nodes(op="call_method", target="neg")) == 2


class Conditional(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: torch.clamp(x, -9, 9), torch.neg, (x,))


def test_a_clamp_in_a_branch_is_not_found() -> None:
    limit_clamps = from_notebook(_ARGUMENTS, "limit_clamps")
    module = torch.export.export(Conditional(), (ONES,)).module()
    assert not limit_clamps(module, limit=6).modified
    assert module(ONES * 9)[0] == 9
    assert "torch.cond" in " ".join(limit_clamps.__doc__.split())


# ---- 07 --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(0, 3), (3, 0), (0,), (2, 3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_the_softmax_of_a_decomposition_table_accepts_an_empty_tensor(
    size: tuple[int, ...], dtype: torch.dtype
) -> None:
    softmax = from_notebook(f"when_it_breaks/{_INPUTS}", "right")
    table = {torch.ops.aten._softmax.default: softmax}
    x = torch.ones(size, dtype=dtype)
    lowered = make_fx(lambda x: x.softmax(0), decomposition_table=table)(x)
    torch.testing.assert_close(lowered(x), x.softmax(0))
    assert torch.ops.aten._softmax.default not in [node.target for node in lowered.graph.nodes]


def test_a_write_that_no_schema_declares_is_erased() -> None:
    return_inner = from_notebook(_INPUTS, "return_inner")
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).train()
    module = torch.export.export(model, (torch.randn(4, 2),)).module()
    [norm] = module.graph.find_nodes(op="call_function", target=torch.ops.aten.batch_norm.default)
    [linear] = module.graph.find_nodes(op="call_function", target=torch.ops.aten.linear.default)
    [count] = module.graph.find_nodes(op="call_function", target=torch.ops.aten.add_.Tensor)
    assert not norm.is_impure()
    assert count.is_impure()
    return_inner(module, names=[linear.name])
    assert norm not in module.graph.nodes
    assert count in module.graph.nodes
