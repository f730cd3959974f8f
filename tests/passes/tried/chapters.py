"""The passes of the chapters, each with its random graphs, the invariants to keep, and the expected results."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult

from fxbook import inputs_for
from fxbook.surgery.linears import linears
from tests.notebooks import from_notebook
from tests.passes.tried import added
from tests.passes.tried.instead import (
    Gelu,
    HalfOfALayer,
    Kept,
    Limited,
    LogOfSquares,
    TanhForTheFunction,
    WithoutAHead,
    layers,
    some_layers,
    some_tensors,
)
from tests.passes.tried.trial import NUMBERS, Pass, Trial, frozen, in_operators, opened

_LORA = ("add_lora", "merge_lora", "Adapter")  # Loaded together because they share a class.
# With fewer kinds of steps, more of a graph's steps are the trial's own layers.
_FEWER_KINDS = dict.fromkeys(["tuples", "sizes", "masks", "repeats", "images", "integers", "attention"], False)
_FOLD, _OPERATE, _CUT, _SHIP = "14_fold_and_fuse", "15_operate_on_a_transformer", "16_cut_a_graph", "17_ship_a_pass"


# ---- expected numbers ------------------------------------------------------------------------------------------------


def rounded(module: fx.GraphModule) -> fx.GraphModule:
    """Round each weight of a linear layer to one of 255 values per output channel."""
    for one in linears(module).found:
        weight = one.weight.detach()
        step = weight.abs().amax(0 if one.transposed else 1, keepdim=True) / 127
        weight.copy_((weight / step).round() * step)
    return module


def adapted(module: fx.GraphModule) -> fx.GraphModule:
    """Add an adapter with random weights to each linear layer."""
    add_lora, _, adapter = from_notebook(_OPERATE, *_LORA)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        add_lora(module, layers=_layers(module))
        for one in module.modules():
            if isinstance(one, adapter):
                nn.init.normal_(one.up, std=0.1)
    return module


# ---- calls to the passes ---------------------------------------------------------------------------------------------


def _no_relu(fuse_pattern: Pass) -> Pass:
    return lambda module: fuse_pattern(module, lambda x: torch.relu(torch.sigmoid(x)), lambda x: torch.sigmoid(x))


def _to_zero(limit_clamps: Pass) -> Pass:
    return lambda module: limit_clamps(module, limit=0)


def _lowered(lower: Callable[..., fx.GraphModule]) -> Pass:
    def run(module: fx.GraphModule) -> PassResult:
        inputs = [value.detach() for value in inputs_for(module)]
        return PassResult(lower(module, *inputs), True)

    return run


def _layers(module: fx.GraphModule) -> list[str]:
    return [name.rpartition(".")[2] for name, layer in module.named_modules() if isinstance(layer, nn.Linear)]


def _of_adapted(_: Pass) -> Pass:
    merge_lora = from_notebook(_OPERATE, *_LORA)[1]
    return lambda module: merge_lora(adapted(module))


def _first_layer(scale_after: Pass) -> Pass:
    def run(module: fx.GraphModule) -> PassResult:
        called = layers(module)
        return scale_after(module, layer=called[0], start=0.5) if called else PassResult(module, False)

    return run


def _after_relu(insert_after_all: Pass) -> Pass:
    def change(value: fx.Proxy) -> fx.Proxy:
        return torch.log1p(value.square())

    return lambda module: insert_after_all(module, matches=lambda node: node.target is torch.relu, change=change)


def _on_draft(run: Pass) -> Pass:
    on_draft = from_notebook("04_recompile", "on_draft")
    return lambda module: on_draft(module, run)


def _of_scaled(fold_scale: Pass) -> Pass:
    scale_after = _first_layer(from_notebook("01_node_creation", "scale_after"))

    def run(module: fx.GraphModule) -> PassResult:
        called = layers(module)
        if not called or type(module.get_submodule(called[0])) is not nn.Linear:
            return PassResult(module, False)
        scale_after(module)
        return _on_draft(fold_scale)(module)

    return run


def _some_tensors(return_inner: Pass) -> Pass:
    return lambda module: return_inner(module, names=[*some_tensors(module)])


def _some_layers(return_layers: Pass) -> Pass:
    def run(module: fx.GraphModule) -> PassResult:
        paths = [*some_layers(module).values()]
        return return_layers(module, paths=paths) if paths else PassResult(module, False)

    return run


def _first_head(prune_heads: Pass) -> Pass:
    return lambda module: prune_heads(module, heads={0: [0]}, inputs=inputs_for(module))


def in_halves(module: fx.GraphModule) -> fx.GraphModule:
    """Cut a graph into two parts, or one if it has no second call."""
    calls = [node for node in module.graph.nodes if node.op.startswith("call")]
    return from_notebook(_CUT, "cut")(module, calls[len(calls) // 2 :][:1])


def _in_halves(_: Pass) -> Pass:
    def run(module: fx.GraphModule) -> PassResult:
        halves = in_halves(module)
        return PassResult(halves, bool([*halves.children()]))

    return run


def _all_parts(checkpoint_parts: Pass) -> Pass:
    return lambda module: checkpoint_parts(module, names=[name for name, _ in module.named_children()])


# ---- the trials ------------------------------------------------------------------------------------------------------

TRIALS = (
    Trial(
        "00_first_graph",
        "relu_to_tanh",
        "calls torch.tanh instead of torch.relu",
        {"also": [("call_function", torch.relu, 1)]},
        without=NUMBERS,
        equal_to=TanhForTheFunction,
    ),
    Trial(
        "01_node_creation",
        "scale_after",
        "multiplies the result of a layer by a parameter",
        called=_first_layer,
        without=(*NUMBERS, "meta", "state_kept", "idempotence"),
        equal_to=HalfOfALayer,
    ),
    Trial(
        "02_insertion_points",
        "insert_after_all",
        "puts two calls after each torch.relu",
        {"functions": (torch.relu, torch.sigmoid, (torch.add, 2))},
        called=_after_relu,
        without=(*NUMBERS, "meta", "idempotence"),
        equal_to=LogOfSquares,
    ),
    Trial(
        "03_replacement",
        "relu_to_gelu",
        "calls GELU instead of ReLU, in place if ReLU was",
        {"also": [("call_function", torch.relu_, 1), ("call_module", added.relu, 1)]},
        without=NUMBERS,
        equal_to=Gelu,
        found="the node that copies had no `meta`: fixed",
    ),
    Trial(
        "04_recompile",
        "relu_to_tanh",
        "calls torch.tanh instead of torch.relu",
        {"also": [("call_function", torch.relu, 1)]},
        without=NUMBERS,
        equal_to=TanhForTheFunction,
        found="`drop_dead_code`, from an earlier version of the chapter, erased in-place calls: removed",
    ),
    Trial(
        "04_recompile",
        "fold_scale",
        "folds the scale that `scale_after` of chapter 01 adds, on a draft",
        # The new scale is float32.
        {"dtype": torch.float32},
        called=_of_scaled,
        without=(*NUMBERS, "meta", "state_kept", "idempotence"),
        equal_to=HalfOfALayer,
        may_refuse=True,
    ),
    Trial(
        "06_kwargs",
        "limit_clamps",
        "lets no clamp return more than zero",
        {"also": [("call_module", lambda _: added.Clamped(), 1)]},
        opened,
        _to_zero,
        without=NUMBERS,
        equal_to=Limited,
    ),
    Trial(
        "07_placeholder",
        "return_inner",
        "returns what chosen nodes compute",
        called=_some_tensors,
        without=(*NUMBERS, "meta", "no_dead_nodes", "aliasing", "idempotence"),
        equal_to=lambda module: Kept(module, some_tensors),
    ),
    Trial(
        "10_models_as_they_come",
        "return_layers",
        "returns what chosen layers compute",
        called=_some_layers,
        without=(*NUMBERS, "meta", "no_dead_nodes", "aliasing", "state_kept", "idempotence"),
        equal_to=lambda module: Kept(module, some_layers),
    ),
    Trial(
        "12_patterns",
        "fuse_pattern",
        "removes a ReLU after a sigmoid",
        {"functions": (torch.relu, torch.sigmoid), "modules": False, "methods": False},
        called=_no_relu,
        without=("idempotence",),
    ),
    Trial(
        "13_retrace_and_meta",
        "lower",
        "lowers the graph to ATen operators",
        {"also": [("call_module", added.dropout, 1)]},
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
        found="the new `state_dict` lacks a buffer that the run does not read: explained in the chapter",
    ),
    Trial(
        _FOLD,
        "fold_batch_norms",
        "folds batch norms into linear layers",
        {"also": [("call_module", added.Normed, 1)]},
        opened,
        without=("state_kept",),
        rtol=1e-6,
    ),
    Trial(
        _FOLD,
        "fold_constants",
        "computes constants once",
        {"also": [("call_module", added.Scaled, 1)]},
        frozen,
        without=("state_kept",),
    ),
    Trial(_FOLD, "share_common_subexpressions", "makes equal calls once"),
    Trial(
        _OPERATE,
        "use_sdpa",
        "makes one call of attention",
        {"also": [("call_module", lambda _: added.Attention(), 1)]},
        opened,
        found="a result that was written in place had no gradient, and the node of the scale lacked `meta`: fixed",
    ),
    Trial(
        _OPERATE,
        "merge_lora",
        "adds adapters, and merges them",
        {"also": [("call_module", added.linear, 1)]},
        called=_of_adapted,
        without=(*NUMBERS, "purity", "idempotence"),
        equal_to=adapted,
    ),
    Trial(
        _OPERATE,
        "quantize_linears",
        "stores weights as int8",
        {"also": [("call_module", added.linear, 1)]},
        without=(*NUMBERS, "state_kept"),
        equal_to=rounded,
        found="the weight of a layer got no `meta`: fixed",
    ),
    Trial(
        _OPERATE,
        "prune_heads",
        "prunes a head of attention",
        {"also": [("call_module", added.Heads, 1)], **_FEWER_KINDS},
        opened,
        _first_head,
        without=(*NUMBERS, "meta", "idempotence"),
        equal_to=WithoutAHead,
        may_refuse=True,
    ),
    Trial(
        _CUT,
        "cut",
        "cuts a graph into two parts",
        called=_in_halves,
        # The call to a part that only writes has no user, but stays.
        without=("meta", "state_kept", "no_dead_nodes", "idempotence"),
        found="a graph without a call got an empty part: fixed",
    ),
    Trial(_CUT, "checkpoint_parts", "calls parts through a checkpoint", captured=in_halves, called=_all_parts),
    Trial(
        _SHIP,
        "fuse_with_notes",
        "makes one call of attention in operators",
        {"also": [("call_module", added.Masked, 1)], **_FEWER_KINDS},
        opened,
        found="a result that was written in place had no gradient: fixed",
    ),
    Trial(_SHIP, "drop_dropouts", "erases dropouts that are off", {"also": [("call_module", added.dropout, 1)]}),
    Trial(
        _SHIP,
        "drop_safely",
        "erases calls that add 0 or multiply by 1",
        {"also": [("call_module", lambda _: added.Neutral(), 1)], "in_place": False},
        in_operators,
    ),
)
