"""The passes of chapter 14 also work on modules that the page does not have."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

from tests.notebooks import from_notebook

pytestmark = pytest.mark.room(name="passes")

functional = nn.functional


@pytest.fixture(scope="module")
def passes() -> SimpleNamespace:
    names = ("fold_batch_norms", "fold_constants", "share_common_subexpressions", "kind_of", "NORMS")
    return SimpleNamespace(**dict(zip(names, from_notebook("14_fold_and_fuse", *names), strict=True)))


def lived(model: nn.Module) -> nn.Module:
    for norm in model.modules():
        if isinstance(norm, nn.modules.batchnorm._BatchNorm) and norm.running_mean is not None:
            nn.init.uniform_(norm.running_var, 0.5, 1.5)
            nn.init.normal_(norm.running_mean)
            if norm.affine:
                nn.init.uniform_(norm.weight, 0.5, 1.5)
                nn.init.normal_(norm.bias)
    return model.eval().double()


class Program(nn.Module):
    """Named layers and a function that calls them."""

    def __init__(self, forward: Callable[..., Any], **layers: nn.Module) -> None:
        super().__init__()
        self.program = forward
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x: Tensor) -> Any:
        return self.program(self, x)


def conv(**settings: Any) -> nn.Conv2d:
    return nn.Conv2d(4, 4, 1, **settings)


def by_function(m: nn.Module, x: Tensor) -> Tensor:
    y = functional.conv2d(input=x, weight=m.conv.weight, bias=m.conv.bias)
    return functional.batch_norm(y, m.norm.running_mean, m.norm.running_var, m.norm.weight, m.norm.bias) + m.conv(x)


def hooked(m: nn.Module) -> nn.Module:
    m.norm.register_forward_hook(lambda layer, inputs, result: result.abs())
    return m


IMAGES = (2, 4, 3, 3)
# For each case: a module, its input shape, and how many norms may be folded in a traced graph with shapes, and in an
# exported one.
CASES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], int, int]] = {
    "a pair": (lambda: Program(lambda m, x: m.norm(m.conv(x)), conv=conv(), norm=nn.BatchNorm2d(4)), IMAGES, 1, 1),
    "called twice": (
        lambda: Program(lambda m, x: m.norm(m.conv(x)) - m.norm(m.conv(-x)), conv=conv(), norm=nn.BatchNorm2d(4)),
        IMAGES,
        2,
        2,
    ),
    "two norms in a row": (
        lambda: Program(lambda m, x: m.norm(m.norm(m.conv(x))), conv=conv(groups=2), norm=nn.BatchNorm2d(4)),
        IMAGES,
        2,
        2,
    ),
    "two users": (
        lambda: Program(lambda m, x: (y := m.conv(x)) * m.norm(y), conv=conv(), norm=nn.BatchNorm2d(4)),
        IMAGES,
        0,
        0,
    ),
    "a function with keywords": (lambda: Program(by_function, conv=conv(), norm=nn.BatchNorm2d(4)), IMAGES, 1, 1),
    "a hook, which becomes part of an exported graph": (
        lambda: hooked(Program(lambda m, x: m.norm(m.conv(x)), conv=conv(), norm=nn.BatchNorm2d(4))),
        IMAGES,
        0,
        1,
    ),
    "a weight that is written": (
        lambda: Program(
            lambda m, x: (m.conv.weight.mul_(1.0), m.norm(m.conv(x)))[1], conv=conv(), norm=nn.BatchNorm2d(4)
        ),
        IMAGES,
        0,
        0,
    ),
    "rows of a sequence": (
        lambda: Program(lambda m, x: m.norm(m.rows(x)), rows=nn.Linear(4, 4), norm=nn.BatchNorm1d(4)),
        (3, 4, 4),
        0,
        0,
    ),
    "an in-place activation after it": (
        lambda: Program(
            lambda m, x: m.act(m.norm(m.conv(x))).add_(1),
            conv=conv(bias=False),
            norm=nn.BatchNorm2d(4, affine=False),
            act=nn.ReLU(inplace=True),
        ),
        IMAGES,
        1,
        1,
    ),
}


def graphs(model: nn.Module, x: Tensor) -> Iterator[tuple[str, fx.GraphModule]]:
    traced = fx.symbolic_trace(model)
    FakeTensorProp(traced, FakeTensorMode(allow_non_fake_inputs=True)).propagate(x)
    yield "traced", traced
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        program = torch.export.export(model, (x,))
        yield "exported", program.module(check_guards=False)
        yield "with guards", program.module()
        yield "functional", program.run_decompositions({}).module(check_guards=False)


def norms_in(passes: SimpleNamespace, module: fx.GraphModule) -> int:
    return sum(passes.kind_of(node) in passes.NORMS for node in module.graph.nodes)


@pytest.mark.parametrize("name", CASES)
@torch.no_grad()
def test_norms_are_folded_only_if_the_numbers_stay_the_same(name: str, passes: SimpleNamespace) -> None:
    torch.manual_seed(0)
    build, shape, of_layers, of_operators = CASES[name]
    model, x = lived(build()), torch.randn(*shape, dtype=torch.float64)
    state, expected = copy.deepcopy(model.state_dict()), model(x)
    for kind, module in graphs(model, x):
        before = norms_in(passes, module)
        modified = passes.fold_batch_norms(module).modified
        gone = before - norms_in(passes, module)
        # In a functional graph, the written weight is a computed value.
        assert gone == (of_layers if kind == "traced" else of_operators), kind
        assert modified == bool(gone)
        torch.testing.assert_close(module(x), expected, rtol=1e-10, atol=1e-10)
        assert not passes.fold_batch_norms(module).modified
        assert state.keys() == model.state_dict().keys()
        for key, value in state.items():
            assert torch.equal(value, model.state_dict()[key]), key


class Weighed(nn.Module):
    """Constants, and values that only look like constants."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.arange(6.0).view(2, 3))
        self.register_buffer("count", torch.zeros(()))
        self.weight = nn.Parameter(torch.rand(3))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        self.count.add_(1)
        angles = (self.table * 2).sin().t()
        noise = torch.rand(3) * 0
        fresh = torch.zeros(3).add_(x.sum())
        return x @ angles + self.count.exp(), noise + self.weight.exp() * x.sum(), fresh, self.table.cos()


@torch.no_grad()
def test_constants_are_folded_and_values_that_change_are_not(passes: SimpleNamespace) -> None:
    x = torch.randn(4, 3)
    for kind in ("exported", "functional"):
        model, twin = Weighed(), Weighed()
        twin.load_state_dict(model.state_dict())
        module = dict(_exports(model, x))[kind]
        before = len(module.graph.nodes)
        assert passes.fold_constants(module).modified
        assert len(module.graph.nodes) < before
        for _ in range(2):
            torch.testing.assert_close(module(x), twin(x))
        model.weight.mul_(3)
        twin.weight.mul_(3)
        model.count.add_(5)
        twin.count.add_(5)
        torch.testing.assert_close(module(x), twin(x))


def _exports(model: nn.Module, x: Tensor) -> Iterator[tuple[str, fx.GraphModule]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        program = torch.export.export(model, (x,))
        yield "exported", program.module(check_guards=False)
        yield "functional", program.run_decompositions({}).module(check_guards=False)


SHARED: dict[str, tuple[Callable[[Tensor], Any], int]] = {
    "equal calls": (lambda x: x.sin() + x.sin(), 1),
    "keywords in another order": (lambda x: x.sum(dim=0, keepdim=True) + x.sum(keepdim=True, dim=0), 1),
    "random": (lambda x: torch.rand_like(x) - torch.rand_like(x), 0),
    "1 and 1.0": (lambda x: (torch.add(x, 1), torch.add(x, 1.0)), 0),
    "0.0 and -0.0": (lambda x: torch.div(1, torch.mul(x, 0.0)) + torch.div(1, torch.mul(x, -0.0)), 0),
    "both returned": (lambda x: (x.sin(), x.sin()), 0),
    "parts of joined lists that are written": (
        lambda x: (x.sin(), (x.chunk(2) + x.chunk(1))[0].add_(1), x.sin())[2],
        0,
    ),
    "a write between": (lambda x: (y := x.neg()).sin() + (y.add_(1), y.sin())[1], 0),
    "a view that is written": (lambda x: (x.neg().view(-1).add_(1), x.neg())[1], 0),
    "a write through einsum": (
        lambda x: ((y := x.neg()), (d := torch.einsum("ij->ji", y)), y.sin() + (d.add_(1), y.sin())[1])[2],
        0,
    ),
}


@pytest.mark.parametrize("name", SHARED)
def test_equal_calls_are_merged_only_if_their_results_are_equal(name: str, passes: SimpleNamespace) -> None:
    program, fewer = SHARED[name]
    traced = fx.symbolic_trace(program)
    before = len(traced.graph.nodes)
    torch.manual_seed(0)
    expected = program(torch.tensor([[1, 2], [3, 4]]).float())
    assert passes.share_common_subexpressions(traced).modified == bool(fewer)
    assert before - len(traced.graph.nodes) == fewer
    torch.manual_seed(0)
    torch.testing.assert_close(traced(torch.tensor([[1, 2], [3, 4]]).float()), expected, equal_nan=True)


def test_nothing_is_merged_or_folded_across_a_mode(passes: SimpleNamespace) -> None:
    table = torch.ones(2, 2)

    def program(x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            half = x @ x
            folded = table @ table
        return half.float() + x @ x + folded.float()

    kept: list[fx.GraphModule] = []
    torch.compiler.reset()

    def backend(module: fx.GraphModule, example_inputs: list[Any]) -> fx.GraphModule:
        kept.append(module)
        return module

    x = torch.randn(2, 2)
    expected = torch.compile(program, backend=backend)(x)
    [module] = kept
    assert not passes.share_common_subexpressions(module).modified
    passes.fold_constants(module)
    inputs = [x if node.name.startswith("l_x") else table for node in module.graph.find_nodes(op="placeholder")]
    assert torch.equal(module(*inputs)[0], expected)


def test_a_module_that_was_folded_in_inference_mode_has_gradients(passes: SimpleNamespace) -> None:
    model = lived(Program(lambda m, x: m.norm(m.conv(x)), conv=conv(), norm=nn.BatchNorm2d(4)))
    x = torch.randn(*IMAGES, dtype=torch.float64, requires_grad=True)
    for _, module in graphs(model, x):
        with torch.inference_mode():
            assert passes.fold_batch_norms(module).modified
        slopes = [torch.autograd.grad(one(x).square().sum(), x)[0] for one in (module, model)]
        torch.testing.assert_close(*slopes)


class Expanded(nn.Module):
    """A constant with one row, expanded."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("row", torch.rand(1, 4))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.row.expand(3, 4)


@torch.no_grad()
def test_a_folded_module_loads_its_own_checkpoint(passes: SimpleNamespace) -> None:
    for kind, module in _exports(model := Expanded(), x := torch.randn(3, 4)):
        assert passes.fold_constants(module).modified, kind
        module.load_state_dict(copy.deepcopy(module.state_dict()))
        assert torch.equal(module(x), model(x))
    assert not passes.fold_constants(dict(_exports(model, x))["exported"], most_bytes=16).modified


@torch.no_grad()
def test_a_folded_constant_has_the_dtype_in_which_it_was_folded(passes: SimpleNamespace) -> None:
    class Ramp(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + torch.linspace(0, 1, 3)

    module = dict(_exports(Ramp(), torch.ones(3)))["exported"]
    before = copy.deepcopy(module)
    assert passes.fold_constants(module).modified
    found = [one.half()(torch.ones(3).half()).dtype for one in (before, module)]
    assert found == [torch.float32, torch.float16]
