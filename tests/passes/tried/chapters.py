"""Which pass of which chapter is tried on which random graphs, what it keeps, and what it has to be equal to."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.fx.passes.infra.pass_base import PassResult

from fxbook import check_pass, inputs_for
from fxbook.linears import linears
from tests.taken import taken

_LORA = ("add_lora", "merge_lora", "Adapter")  # taken together, as they share a class
Pass = Callable[..., PassResult]
_NUMBERS = ("values", "values_at_another_size", "gradients")
functional = nn.functional
_FOLD, _OPERATE, _SHIP = "14_fold_and_fuse", "15_operate_on_a_transformer", "17_ship_a_pass"


# ---- what a pass that changes numbers has to be equal to -------------------------------------------------------------


class Instead(fx.Interpreter):
    """Runs the graph as it was, and some of its nodes as the pass should have changed them."""

    def run_node(self, n: fx.Node) -> Any:
        value = self.instead(n, *self.fetch_args_kwargs_from_env(n))
        return super().run_node(n) if value is None else value

    def instead(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value of a node that is changed; ``None`` for every other one."""
        raise NotImplementedError


class TanhForTheMethod(Instead):
    def instead(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return args[0].tanh() if (node.op, node.target) == ("call_method", "relu") else None


class TanhForTheFunction(Instead):
    def instead(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return torch.tanh(*args, **kwargs) if node.target is torch.relu else None


class Gelu(Instead):
    def instead(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called = self.module.get_submodule(node.target) if node.op == "call_module" else node.target
        if type(called) is nn.ReLU:
            in_place = called.inplace
        elif called in (torch.relu, "relu", functional.relu):
            in_place = kwargs.get("inplace", len(args) > 1 and args[1])
        elif called in (torch.relu_, "relu_", functional.relu_):
            in_place = True
        else:
            return None
        [x] = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
        value = functional.gelu(x.clone())
        return x.copy_(value) if in_place else value


class Limited(Instead):
    """No clamp between numbers gives more than a half."""

    def instead(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if node.target not in (torch.clamp, torch.clip, "clamp", "clip"):
            return None
        bounds = [kwargs.get(name, args[at] if len(args) > at else None) for at, name in ((1, "min"), (2, "max"))]
        if any(isinstance(bound, Tensor) for bound in bounds):
            return None
        x = kwargs.get("input", args[0] if args else None)
        return torch.clamp(x, bounds[0], min(0.5, 0.5 if bounds[1] is None else bounds[1]))


def rounded(module: fx.GraphModule) -> fx.GraphModule:
    """Each weight of a linear layer is rounded to 255 steps for each of its outputs."""
    for one in linears(module).found:
        weight = one.weight.detach()
        step = weight.abs().amax(0 if one.transposed else 1, keepdim=True) / 127
        weight.copy_((weight / step).round() * step)
    return module


def adapted(module: fx.GraphModule) -> fx.GraphModule:
    """Beside each linear layer is an adapter that has learned."""
    add_lora, _, adapter = taken(_OPERATE, *_LORA)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        add_lora(module, layers=_layers(module))
        for one in module.modules():
            if isinstance(one, adapter):
                nn.init.normal_(one.up, std=0.1)
    return module


# ---- how the passes are called ---------------------------------------------------------------------------------------


def _no_relu(fuse_pattern: Pass) -> Pass:
    return lambda module: fuse_pattern(module, lambda x: torch.relu(torch.sigmoid(x)), lambda x: torch.sigmoid(x))


def _half(limit_clamps: Pass) -> Pass:
    return lambda module: limit_clamps(module, limit=0.5)


def _lowered(lower: Callable[..., fx.GraphModule]) -> Pass:
    def run(module: fx.GraphModule) -> PassResult:
        inputs = [value.detach() for value in inputs_for(module)]
        return PassResult(lower(module, *inputs), True)

    return run


def _layers(module: fx.GraphModule) -> list[str]:
    return [name.rpartition(".")[2] for name, layer in module.named_modules() if isinstance(layer, nn.Linear)]


def _of_adapted(_: Pass) -> Pass:
    merge_lora = taken(_OPERATE, *_LORA)[1]
    return lambda module: merge_lora(adapted(module))


def _itself(run: Pass) -> Pass:
    return run


# ---- what random graphs do not have of themselves --------------------------------------------------------------------


class Attention(nn.Module):
    """Attention between the rows of one value, written out."""

    def forward(self, x: Tensor) -> Tensor:
        heads = x[None, None]
        scores = heads @ heads.transpose(-2, -1) / x.shape[-1] ** 0.5
        return (scores.softmax(-1) @ heads)[0, 0]


class Normed(nn.Module):
    """A linear layer, and a batch norm that has seen data."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(features, features), nn.BatchNorm1d(features)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.linear(x))


class Scaled(nn.Module):
    """A scale that is stored as its logarithm."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.logarithm = nn.Parameter(torch.ones(features))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.logarithm.exp()


class Clamped(nn.Module):
    """Clamps in three spellings."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.clamp(x, -1, 1) + x.clip(max=0.25) + torch.clip(min=-0.5, input=x)


class Neutral(nn.Module):
    """Calls that change no number but the sign of a zero."""

    def forward(self, x: Tensor) -> Tensor:
        return x * 1 + 0


def _dropout(_: int) -> nn.Module:
    return nn.Dropout(0.5)


def _linear(features: int) -> nn.Module:
    return nn.Linear(features, features)


def _relu(_: int) -> nn.Module:
    return nn.ReLU()


def opened(module: fx.GraphModule) -> fx.GraphModule:
    """The graph with the modules above traced through, and with an example in the meta of each node."""
    whole = fx.symbolic_trace(module)
    FakeTensorProp(whole, FakeTensorMode(allow_non_fake_inputs=True)).propagate(*inputs_for(module))
    return whole


def frozen(module: fx.GraphModule) -> fx.GraphModule:
    """The graph, opened, and no weight is trained."""
    return opened(module).requires_grad_(False)


def in_operators(module: fx.GraphModule) -> fx.GraphModule:
    """The graph in ATen operators."""
    return make_fx(fx.Interpreter(module).run)(*(value.detach() for value in inputs_for(module)))


@dataclasses.dataclass(frozen=True)
class Trial:
    """One pass, the graphs that it gets, and what is asked.

    Attributes:
        chapter: the notebook that has it.
        name: of the function there.
        does: what, in a few words.
        limits: of the random graphs.
        captured: what is made of a random graph before the pass.
        called: makes a pass of one argument.
        without: the invariants that the pass need not keep.
        equal_to: where numbers change, what gives them: made of the module as it was, and called.
        rtol: how far numbers may be apart.
        found: what random graphs have found, and whether it is mended.
    """

    chapter: str
    name: str
    does: str
    limits: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    captured: Callable[[fx.GraphModule], fx.GraphModule] = _itself
    called: Callable[[Pass], Pass] = _itself
    without: tuple[str, ...] = ()
    equal_to: Callable[[fx.GraphModule], Any] | None = None
    rtol: float | None = None
    found: str = ""

    @property
    def told(self) -> dict[str, Any]:
        """How the record names it."""
        told: dict[str, Any] = {"chapter": self.chapter, "name": self.name, "does": self.does}
        left_out = [name for name in self.without if self.equal_to is None or name not in _NUMBERS]
        return told | ({"without": left_out} if left_out else {}) | ({"found": self.found} if self.found else {})

    def of(self, drawn: fx.GraphModule) -> bool:
        """Run the pass on a random graph, and ask for all that it must keep; whether it has changed something.

        Raises:
            AssertionError: it does not keep an invariant, or computes something else than it should.
        """
        module = self.captured(drawn)
        inputs = inputs_for(drawn)
        # A graph of operators is made for the sizes of one run.
        others = () if self.captured is in_operators else [inputs_for(drawn, rows) for rows in (1, 5)]
        run = self.called(taken(self.chapter, self.name))
        limits = {} if self.rtol is None else {"rtol": self.rtol, "atol": self.rtol}
        result = check_pass(run, module, inputs, without=self.without, others=others, **limits)
        if self.equal_to is not None:
            self._compare(module, result.graph_module, inputs)
        return result.modified

    def _compare(self, before: fx.GraphModule, after: fx.GraphModule, inputs: tuple[Any, ...]) -> None:
        reference = self.equal_to(copy.deepcopy(before))
        run = reference.run if isinstance(reference, fx.Interpreter) else reference
        with torch.no_grad():
            expected, found = run(*copy.deepcopy(inputs)), after(*copy.deepcopy(inputs))
        torch.testing.assert_close(found, expected, equal_nan=True)


TRIALS = (
    Trial(
        "00_first_graph",
        "relu_to_tanh",
        "calls the method tanh in place of relu",
        {"also": [("call_method", "relu", 1)]},
        without=_NUMBERS,
        equal_to=TanhForTheMethod,
    ),
    Trial(
        "03_replacement",
        "relu_to_gelu",
        "calls GELU in place of ReLU, in place where ReLU was",
        {"also": [("call_function", torch.relu_, 1), ("call_module", _relu, 1)]},
        without=_NUMBERS,
        equal_to=Gelu,
        found="the node that copies had no `meta`: mended",
    ),
    Trial(
        "04_recompile",
        "relu_to_tanh",
        "calls torch.tanh in place of torch.relu",
        {"also": [("call_function", torch.relu, 1)]},
        without=_NUMBERS,
        equal_to=TanhForTheFunction,
        found="`drop_dead_code`, of an earlier version of the chapter, erased calls in place: it is gone",
    ),
    Trial(
        "06_kwargs",
        "limit_clamps",
        "lets no clamp return more than a half",
        {"also": [("call_module", lambda _: Clamped(), 1)]},
        opened,
        _half,
        without=_NUMBERS,
        equal_to=Limited,
    ),
    Trial(
        "12_patterns",
        "fuse_pattern",
        "calls no ReLU of a sigmoid",
        {"functions": (torch.relu, torch.sigmoid), "modules": False, "methods": False},
        called=_no_relu,
        without=("idempotence",),
    ),
    Trial(
        "13_retrace_and_meta",
        "lower",
        "writes the graph in ATen operators",
        {"also": [("call_module", _dropout, 1)]},
        called=_lowered,
        without=(
            "inputs_kept",
            "meta",
            "no_dead_nodes",
            "no_retrace",
            "idempotence",
            "values_at_another_size",
            "state_kept",
        ),
        found="a buffer that the run does not read is not in the new `state_dict`: told in the chapter",
    ),
    Trial(
        _FOLD,
        "fold_batch_norms",
        "folds batch norms into linear layers",
        {"also": [("call_module", Normed, 1)]},
        opened,
        without=("state_kept",),
        rtol=1e-6,
    ),
    Trial(
        _FOLD,
        "fold_constants",
        "computes constants once",
        {"also": [("call_module", Scaled, 1)]},
        frozen,
        without=("state_kept",),
    ),
    Trial(_FOLD, "share_common_subexpressions", "makes equal calls once"),
    Trial(
        _OPERATE,
        "use_sdpa",
        "makes one call of attention",
        {"also": [("call_module", lambda _: Attention(), 1)]},
        opened,
        found="a result that was written in place had no gradient, and the node of the scale no `meta`: mended",
    ),
    Trial(
        _OPERATE,
        "merge_lora",
        "adds adapters, and merges them",
        {"also": [("call_module", _linear, 1)]},
        called=_of_adapted,
        without=(*_NUMBERS, "purity", "idempotence"),
        equal_to=adapted,
    ),
    Trial(
        _OPERATE,
        "quantize_linears",
        "stores weights as int8",
        {"also": [("call_module", _linear, 1)]},
        without=(*_NUMBERS, "state_kept"),
        equal_to=rounded,
        found="the weight of a layer got no `meta`: mended",
    ),
    Trial(_SHIP, "drop_dropouts", "erases dropouts that are off", {"also": [("call_module", _dropout, 1)]}),
    Trial(
        _SHIP,
        "drop_safely",
        "erases calls that add 0 or multiply by 1",
        {"also": [("call_module", lambda _: Neutral(), 1)], "in_place": False},
        in_operators,
    ),
)
