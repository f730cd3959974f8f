"""Faults of kinds for which no invariant existed when they were planted, each in the form first noticed."""

from __future__ import annotations

import copy
import gc
import operator
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.fx.passes.infra.pass_base import PassResult
from torch.nn import functional

from tests.passes.planted.outside import calling, drops, of
from tests.passes.planted.plant import Model, Plant, behind, calls, done, erase, rows

ROWS = rows(2, 4)
LOG: list[str] = []
CACHE: dict[str, Tensor] = {}
aten = torch.ops.aten


def log_before(x: Tensor) -> None:
    LOG.append("before")


def log_behind(x: Tensor) -> None:
    LOG.append("behind")


def positive(x: Tensor) -> Tensor:
    """Return positive values, and reject all others."""
    if bool((x < -100).any()):
        raise ValueError("below -100")
    return x


def logged(x: Tensor) -> Tensor:
    log_before(x)
    y = x.relu()
    log_behind(y)
    return y + 1


def scaled(x: Tensor, scale: float = 2.0) -> Tensor:
    return (x * scale).relu()


for _name in ("log_before", "log_behind", "positive"):
    fx.wrap(_name)


class Recorder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[tuple[int, ...]] = []

    def forward(self, x: Tensor) -> Tensor:
        self.shapes.append(tuple(x.shape))
        return x


class Recorded(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.note = Recorder()

    def forward(self, x: Tensor) -> Tensor:
        self.note(x)
        return x.relu()


class Doubled(nn.Module):
    """A model that doubles the result of a layer, with a buffer that no node reads."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.register_buffer("scale", torch.arange(4.0))

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x) * 2


class Logarithm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("log_scale", torch.arange(4.0) / 10)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.log_scale.exp()


class TrainedLogarithm(Logarithm):
    def __init__(self) -> None:
        super().__init__()
        del self.log_scale
        self.log_scale = nn.Parameter(torch.arange(4.0) / 10)


class Turned(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x.permute(0, 2, 1) + 1).sum(1)


class _Leaves(fx.Tracer):
    proxy_buffer_attributes = True

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, Recorder) or super().is_leaf_module(m, module_qualified_name)


def traced(kind: type[nn.Module], prepare: Callable[[fx.GraphModule], Any] = lambda module: None) -> Model:
    def model() -> fx.GraphModule:
        root = kind()
        module = fx.GraphModule(root, _Leaves().trace(root))
        # The constructor does not copy a buffer that no node reads.
        for name, held in root.named_buffers(recurse=False):
            module.register_buffer(name, held)
        prepare(module)
        return module

    model.__name__ = kind.__name__.lower()
    return model


def turned() -> fx.GraphModule:
    return torch.export.export(Turned(), (rows(2, 3, 4),)).module()


def has_load_hook(module: fx.GraphModule) -> None:
    module.get_submodule("layer")._register_load_state_dict_pre_hook(lambda *_: None)


def has_weight_hook(module: fx.GraphModule) -> None:
    module.get_submodule("layer").weight.register_hook(lambda gradient: gradient.clamp(-1, 1))


def has_tagged_weight(module: fx.GraphModule) -> None:
    module.get_submodule("layer").weight.tensor_parallel = True


# ---- passes ----------------------------------------------------------------------------------------------------------


def val_with_old_strides(module: fx.GraphModule) -> PassResult:
    for node in calls(module, aten.permute.default):
        behind(node, lambda graph, node=node: graph.call_function(aten.contiguous.default, (node,)))
    return done(module)


def swaps_log_calls(module: fx.GraphModule) -> PassResult:
    first, last = calls(module, log_before) + calls(module, log_behind)
    last.append(first)
    return done(module)


def folds_a_buffer(module: fx.GraphModule) -> PassResult:
    found = calls(module, "exp")
    for node in found:
        module.register_buffer("folded", module.log_scale.exp(), persistent=False)
        with module.graph.inserting_before(node):
            node.replace_all_uses_with(module.graph.get_attr("folded"))
        module.graph.erase_node(node)
    module.graph.eliminate_dead_code()
    return done(module, bool(found))


def folds_with_its_history(module: fx.GraphModule) -> PassResult:
    """Wrong: the folded buffer is not a leaf of autograd, so the module can no longer be copied."""
    return folds_a_buffer(module)


def sweeps(module: fx.GraphModule) -> PassResult:
    return done(module, module.graph.eliminate_dead_code())


def folds(name: str, new_layer: Callable[[nn.Linear], nn.Linear]) -> Callable[[fx.GraphModule], PassResult]:
    """A pass that doubles the weights of a layer instead of its result."""

    def run(module: fx.GraphModule) -> PassResult:
        found = calls(module, operator.mul)
        for node in found:
            old = module.get_submodule(node.args[0].target)
            new = new_layer(old).train(old.training)
            new.weight, new.bias = nn.Parameter(old.weight.detach() * 2), nn.Parameter(old.bias.detach() * 2)
            module.set_submodule(node.args[0].target, new)
            erase(node)
            if name == "leaves_a_lock":
                module.lock = threading.Lock()
        return done(module, bool(found))

    run.__name__ = name
    return run


def caches_by_name(module: fx.GraphModule) -> PassResult:
    layer = copy.deepcopy(module.layer)
    layer.weight = nn.Parameter(CACHE.setdefault("layer", layer.weight.detach().clone()), layer.weight.requires_grad)
    module.set_submodule("layer", layer)
    return done(module, False)


def takes_a_name(module: fx.GraphModule) -> PassResult:
    for node in calls(module, operator.mul):
        module.register_buffer("scale", torch.tensor(2.0))
        with module.graph.inserting_before(node):
            node.args = (node.args[0], module.graph.get_attr("scale"))
    return done(module)


def inlines(name: str, program: Callable[..., Any]) -> Callable[[fx.GraphModule], PassResult]:
    """A pass that replaces a layer with operations on its input, weight and bias."""

    def run(module: fx.GraphModule) -> PassResult:
        found = calls(module, "layer")
        for node in found:
            tracer = fx.proxy.GraphAppendingTracer(module.graph)
            with module.graph.inserting_before(node):
                stored = [module.graph.get_attr(f"layer.{name}") for name in ("weight", "bias")]
                new = program(*(fx.Proxy(one, tracer) for one in (node.args[0], *stored))).node
            node.replace_all_uses_with(new)
            module.graph.erase_node(node)
        return done(module, bool(found))

    run.__name__ = name
    return run


def leaves(name: str, switch: Callable[[], object]) -> Callable[[fx.GraphModule], PassResult]:
    def run(module: fx.GraphModule) -> PassResult:
        switch()
        return done(module, False)

    run.__name__ = name
    return run


def loses_annotations(module: fx.GraphModule) -> PassResult:
    for node in module.graph.find_nodes(op="placeholder"):
        node.type = None
    return done(module)


def burns_a_default(module: fx.GraphModule) -> PassResult:
    for node in calls(module, operator.mul):
        node.args = (node.args[0], 2.0)
    return done(module)


def raises_when_done(module: fx.GraphModule) -> PassResult:
    erase(next(node for node in module.graph.nodes if node.target is operator.add))
    return done(module)


def one_pass_norm(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / ((x * x).mean(-1, keepdim=True) - mean * mean + 1e-5).sqrt()


def norm_by_hand(x: Tensor) -> Tensor:
    return (x * x).sum().sqrt()


def reversed_by_T(x: Tensor, *_: int) -> Tensor:  # noqa: N802  As the attribute is called.
    return x.T


def log_of_positive(x: Tensor) -> Tensor:
    return x.log() if x.numel() and float(x.min()) > 0 else x.clamp(min=1e-6).log()


def fresh(layer: nn.Linear) -> nn.Linear:
    return nn.utils.skip_init(nn.Linear, layer.in_features, layer.out_features)


STATE, NUMBERS, EFFECTS, PURE = ("state_kept",), ("values_of_other_numbers",), ("effects",), ("purity",)
doubled = traced(Doubled)
BLIND = [
    Plant(val_with_old_strides, turned, (rows(2, 3, 4),), ("meta",), True),
    Plant(swaps_log_calls, of(logged, "logged"), (ROWS,), EFFECTS),
    Plant(folds_a_buffer, traced(Logarithm), (ROWS,), STATE, True),
    Plant(folds_with_its_history, traced(TrainedLogarithm), (ROWS,), STATE),
    Plant(sweeps, traced(Recorded), (ROWS,), EFFECTS),
    Plant(
        calling("permute", reversed_by_T, "warns"),
        of(lambda x: x.permute(2, 1, 0), "turned"),
        (rows(2, 3, 4),),
        EFFECTS,
        True,
    ),
    Plant(
        drops(positive),
        of(lambda x: positive(x).relu(), "refused"),
        (ROWS,),
        EFFECTS,
        True,
    ),
    Plant(caches_by_name, doubled, (ROWS,), ("determinism",)),
    Plant(takes_a_name, doubled, (ROWS,), STATE),
    Plant(folds("loses_load_hooks", fresh), traced(Doubled, has_load_hook), (ROWS,), EFFECTS),
    Plant(folds("loses_weight_hooks", copy.deepcopy), traced(Doubled, has_weight_hook), (ROWS,), STATE),
    Plant(folds("loses_weight_tags", copy.deepcopy), traced(Doubled, has_tagged_weight), (ROWS,), STATE),
    Plant(folds("leaves_a_lock", copy.deepcopy), doubled, (ROWS,), ("code",), True),
    Plant(
        inlines("for_rows_alone", lambda x, w, b: torch.addmm(b, x, w.t())),
        doubled,
        (ROWS,),
        ("values_at_another_size",),
        True,
    ),
    Plant(
        inlines("without_autocast", lambda x, w, b: (x.unsqueeze(-2) * w).sum(-1) + b), doubled, (ROWS,), NUMBERS, True
    ),
    Plant(leaves("silences_warnings", lambda: warnings.simplefilter("ignore")), doubled, (ROWS,), PURE),
    Plant(
        leaves("recurses_deeper", lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 1)), doubled, (ROWS,), PURE
    ),
    Plant(leaves("collects_no_garbage", gc.disable), doubled, (ROWS,), PURE),
    Plant(loses_annotations, of(scaled, "scaled"), (ROWS,), ("inputs_kept",), True),
    Plant(burns_a_default, of(scaled, "scaled"), (ROWS,), NUMBERS),
    Plant(raises_when_done, of(lambda x: (x + 0).relu(), "plus_zero"), (ROWS,), ("idempotence",), True),
    Plant(
        calling(functional.layer_norm, one_pass_norm, "far_from_zero"),
        of(lambda x: functional.layer_norm(x, (4,)), "norm"),
        (ROWS,),
        NUMBERS,
        True,
    ),
    Plant(
        calling(torch.linalg.vector_norm, norm_by_hand, "overflows_in_half"),
        of(lambda x: torch.linalg.vector_norm(x), "length"),
        (ROWS,),
        NUMBERS,
        True,
    ),
    Plant(
        calling("log", log_of_positive, "reads_a_number"),
        of(lambda x: x.exp().log(), "log"),
        (ROWS,),
        NUMBERS,
        True,
    ),
]
