"""A described graph is rebuilt exactly, and nothing is built that the grader does not allow."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import operator
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import fx, nn

from classroom.judge import allowed
from classroom.judge.rebuild.graph import rebuild
from classroom.judge.rebuild.values import RefusedError, UnreadableError
from classroom.tests.judge.rebuilding import model, traced
from fxbook.graph.given import Given
from fxbook.graph.record import GraphRecord, record
from fxbook.graph.wire import MOST_BYTES, describe

JSON = Any


def through(result: fx.Graph | fx.GraphModule, given: Given, fresh: nn.Module) -> Any:
    """Rebuild from the description after a round trip through JSON."""
    return rebuild(json.loads(json.dumps(describe(result, given))), fresh, dict)


def edited(edit: Callable[[fx.GraphModule], Any]) -> tuple[fx.GraphModule, Any]:
    """A traced model after an edit, and its rebuilt copy."""
    module = traced()
    given = Given(module)
    edit(module)
    return module, through(module, given, traced())


def recorded(result: fx.Graph | fx.GraphModule) -> GraphRecord:
    """The record without scopes, which only tracing knows."""
    graph_record = record(result)
    nodes = tuple(dataclasses.replace(node, scope="") for node in graph_record.nodes)
    return dataclasses.replace(graph_record, nodes=nodes)


def same(module: fx.GraphModule, again: Any) -> None:
    x = torch.randn(3, 4)
    assert recorded(again) == recorded(module)
    assert again.code == module.code
    assert torch.equal(again.forward(x.clone()), module.forward(x.clone()))
    state, rebuilt_state = module.state_dict(), again.state_dict()
    assert list(rebuilt_state) == list(state)
    assert all(torch.equal(rebuilt_state[name], state[name]) for name in state)


# ---- honest graphs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["inserting_before", "inserting_after"])
@pytest.mark.parametrize("is_erased", [False, True])
def test_insertion_point_is_rebuilt(side: str, is_erased: bool) -> None:
    def leaves_it_behind(module: fx.GraphModule) -> None:
        node = module.graph.find_nodes(op="call_module")[0]
        anchor = node
        if is_erased:
            with module.graph.inserting_after(node):
                anchor = module.graph.call_function(torch.relu, (node,))
        getattr(module.graph, side)(anchor).__enter__()
        if is_erased:
            module.graph.erase_node(anchor)

    module, again = edited(leaves_it_behind)
    assert record(again).inserts == record(module).inserts is not None
    module.graph.call_function(torch.relu, ())
    again.graph.call_function(torch.relu, ())
    if not is_erased:
        assert [node.name for node in again.graph.nodes] == [node.name for node in module.graph.nodes]


@pytest.mark.parametrize("lie", [3, "end", {"before": 99}, {"after": "x"}, {"before": True}, [], {"beside": 0}])
def test_invalid_insertion_point_is_refused(lie: JSON) -> None:
    module = traced()
    description = describe(module, Given(module))
    with pytest.raises(UnreadableError):
        rebuild({**description, "inserts": lie}, traced(), dict)


def calls_everything(module: fx.GraphModule) -> None:
    """Use arguments of every kind that a graph may contain."""
    output = module.graph.output_node()
    with module.graph.inserting_before(output):
        value = module.graph.call_method("to", (output.args[0], torch.float64), {"copy": True})
        value = module.graph.call_function(operator.getitem, (value, (slice(None, 2, 1), None, ...)))
        value = module.graph.call_function(torch.clamp, (value,), {"min": -math.inf, "max": math.inf})
        value = module.graph.call_method("nan_to_num", (value, math.nan))
        value = module.graph.call_method("contiguous", (value,), {"memory_format": torch.contiguous_format})
        zeros = module.graph.call_function(torch.zeros, (torch.Size([1, 1]),), {"device": torch.device("cpu")})
        value = module.graph.call_function(torch.cat, ([zeros, value],))
        value = module.graph.call_function(torch.add, (value, 0.0), {"alpha": 1})
        size = module.graph.call_function(getattr, (value, "shape"))
        value = module.graph.call_method("reshape", (value, size))
    output.args = (value,)
    module.recompile()


def adds_modules(module: fx.GraphModule) -> None:
    """Add nested modules, a copy, a parameter and a non-persistent buffer."""
    twin = copy.deepcopy(module.layers)
    module.add_module("more", nn.Sequential(nn.Linear(4, 4, bias=False), twin, nn.LeakyReLU(0.3, inplace=True)))
    module.register_parameter("scale", nn.Parameter(torch.randn(4), requires_grad=False))
    module.register_buffer("kept", torch.tensor([True, False, True, True]), persistent=False)
    first = module.graph.find_nodes(op="call_module")[0]
    with module.graph.inserting_after(first):
        scale, kept = module.graph.get_attr("scale"), module.graph.get_attr("kept")
    with module.graph.inserting_after(scale):
        more = module.graph.call_module("more.1.0", (first,))
    with module.graph.inserting_after(more):
        masked = module.graph.call_function(torch.where, (kept, more, scale))
    first.replace_all_uses_with(masked, delete_user_cb=lambda user: user is not more)
    module.recompile()


def changes_what_was_given(module: fx.GraphModule) -> None:
    """Change settings, weights, mode, order and class of what the model contains."""
    with torch.no_grad():
        module.layers.get_submodule("0").weight.mul_(2.0)
        module.shift.fill_(math.nan)
        module.shift.fill_(0.5)
    module.layers.get_submodule("1").inplace = True
    module.layers.get_submodule("1").eval()
    module.layers._modules["2"] = nn.Linear(4, 4)
    module.layers.get_submodule("0").bias = None


def changes_a_weight(module: fx.GraphModule) -> None:
    with torch.no_grad():
        module.layers.get_submodule("2").weight[0, 0] += 1.0


def changes_the_order_of_modules(module: fx.GraphModule) -> None:
    inner = module.layers._modules
    inner["0"] = inner.pop("0")


EDITS = [calls_everything, adds_modules, changes_what_was_given, changes_a_weight, changes_the_order_of_modules]


@pytest.mark.parametrize("edit", [lambda module: None, *EDITS])
def test_rebuilt_graph_is_equal(edit: Callable[[fx.GraphModule], Any]) -> None:
    same(*edited(edit))


def test_weights_are_the_models_own_objects() -> None:
    module = traced()
    given = Given(module)
    module.layers.get_submodule("2").weight = nn.Parameter(module.layers.get_submodule("2").weight.detach().clone())
    fresh = traced()
    first, last = fresh.get_parameter("layers.0.weight"), fresh.get_parameter("layers.2.weight")
    again = through(module, given, fresh)
    assert again.get_parameter("layers.0.weight") is first
    assert again.get_parameter("layers.2.weight") is not last


def test_bare_graph_runs_in_the_given_model() -> None:
    graph = fx.Graph()
    graph.output(graph.call_module("layers.0", (graph.placeholder("x", default_value=1.5),)))
    again = through(graph, Given(model()), model())
    assert isinstance(again, fx.Graph)
    assert recorded(again) == recorded(graph)


def broken(change: Callable[[fx.Graph, list[fx.Node]], Any]) -> Callable[[fx.GraphModule], None]:
    return lambda module: change(module.graph, list(module.graph.nodes))


def erased(graph: fx.Graph) -> fx.Node:
    node = graph.placeholder("gone")
    graph.erase_node(node)
    return node


@pytest.mark.parametrize(
    "change",
    [
        lambda graph, nodes: setattr(nodes[1], "args", (nodes[1],)),
        lambda graph, nodes: setattr(nodes[1], "args", (nodes[3],)),
        lambda graph, nodes: setattr(nodes[1], "args", (fx.Graph().placeholder("far"),)),
        lambda graph, nodes: setattr(nodes[1], "args", (erased(graph),)),
        lambda graph, nodes: setattr(nodes[1], "name", nodes[2].name),
        lambda graph, nodes: setattr(nodes[1], "op", "call_modul"),
        lambda graph, nodes: setattr(nodes[1], "target", "nowhere.0"),
        lambda graph, nodes: setattr(nodes[1], "args", [nodes[0]]),
        lambda graph, nodes: setattr(nodes[-3], "op", "call_method"),
        lambda graph, nodes: setattr(nodes[-3], "target", "relu"),
    ],
)
def test_broken_graph_stays_broken(change: Callable[[fx.Graph, list[fx.Node]], Any]) -> None:
    module, again = edited(broken(change))
    rebuilt, original = recorded(again), recorded(module)
    assert (rebuilt.nodes, rebuilt.lint) == (original.nodes, original.lint)


def test_large_or_hooked_modules_are_refused() -> None:
    module = traced()
    given = Given(module)
    module.register_buffer("large", torch.zeros(MOST_BYTES // 4 + 1))
    assert "MiB" in describe(module, given)["refused"]
    layer = traced()
    hooked = Given(layer)
    layer.layers.get_submodule("0").register_forward_hook(lambda *_: None)
    with pytest.raises(RefusedError, match="hooks"):
        through(layer, hooked, traced())


def test_disguised_function_is_refused() -> None:
    def relu(x: torch.Tensor) -> torch.Tensor:
        return x

    relu.__module__, relu.__qualname__ = "torch", "relu"
    assert isinstance(relu, types.FunctionType)
    with pytest.raises(RefusedError, match="not torch's"):
        edited(lambda module: setattr(list(module.graph.nodes)[-4], "target", relu))


# ---- the allow-list --------------------------------------------------------------------------------------------------


def test_function_names_round_trip() -> None:
    graph = fx.Graph()
    for named in allowed.functions().values():
        graph.call_function(named)
    names = [node["target"]["function"] for node in describe(graph, Given(nn.Module()))["nodes"]]
    functions = [allowed.function(name) for name in names]
    assert all(function is named for function, named in zip(functions, allowed.functions().values(), strict=True))


@pytest.mark.parametrize(
    "name",
    [
        *("os.system", "builtins.eval", "builtins.exec", "builtins.__import__", "builtins.open", "builtins.type"),
        *("builtins.setattr", "builtins.vars", "builtins.print", "operator.attrgetter", "operator.methodcaller"),
        *("operator.call", "operator.itemgetter", "math.__loader__", "functools.partial", "torch.load", "torch.save"),
        *("torch.from_file", "torch.compile", "torch.vmap", "torch.cond", "torch.hub.load", "torch.jit.load"),
        *("torch.ops.load_library", "torch.classes.load_library", "torch.utils.cpp_extension.load", "torch.empty"),
        *("torch.set_default_dtype", "torch.manual_seed", "torch.set_num_threads", "torch.frombuffer", "torch.fx.wrap"),
        *("torch.Tensor.numpy", "torch.Tensor.data_ptr", "torch.Tensor.apply_", "torch.Tensor.backward"),
        *("torch.ops.aten.from_file.default", "torch.ops.aten.set_.source_Tensor", "torch.ops.aten.resize_.default"),
        *(
            "torch.native_batch_norm",
            "torch.batch_norm",
            "torch.ctc_loss",
            "torch.as_strided",
            "torch.Tensor.as_strided",
        ),
        *("torch.ops.aten.native_batch_norm.default", "torch.ops.aten._native_batch_norm_legit.default"),
        *("torch.ops.aten.add.out", "torch.ops.aten.cat.names_out", "torch.ops.aten.as_strided.default"),
        *("torch.ops.aten._pin_memory.default", "torch.ops.aten.__class__", "torch.ops.aten.add.op", "torch.ops.aten."),
        *("torch.ops.prim.NumToTensor.Scalar", "torch.ops.aten.add.Tensor.__call__", "torch._C._jit_init", "relu", ""),
    ],
)
def test_forbidden_functions_are_not_found(name: str) -> None:
    assert allowed.function(name) is None


# Kernels that trust the sizes, strides and indices that they get, and write or read out of bounds.
_TRUSTING = """
    as_strided as_strided_ as_strided_copy as_strided_scatter empty_strided set_ resize_ resize_as_ native_batch_norm
    _native_batch_norm_legit _native_batch_norm_legit_no_training cudnn_batch_norm batch_norm embedding_bag
    index_select gather take put_ scatter_ index_put_ index_add_ index_copy_ _index_put_impl_ _unsafe_index bincount
    max_unpool2d grid_sampler nll_loss segment_reduce searchsorted histc fractional_max_pool2d ormqr lstm gru cdist
    _sparse_coo_tensor_unsafe ctc_loss _ctc_loss
"""


@pytest.mark.parametrize("name", _TRUSTING.split())
def test_kernel_that_trusts_its_arguments_is_not_found(name: str) -> None:
    spelled = (f"torch.{name}", f"torch.Tensor.{name}", f"torch.nn.functional.{name}", f"torch.ops.aten.{name}")
    assert not any(allowed.function(one) for one in (*spelled, f"{spelled[-1]}.default", f"{spelled[-1]}.out"))
    assert name not in allowed.methods()


def test_allow_list_contains_only_safe_namespaces() -> None:
    homes = {name.split(".")[0] for name in allowed.functions()}
    assert homes == {"torch", "operator", "math", "builtins"}
    suspicious = ["load", "save", "file", "compile", "seed", "thread", "hook", "storage", "ptr", "empty", "set_"]
    suspicious.append("cuda")
    for name in (*allowed.functions(), *allowed.methods()):
        assert not any(part in name.rpartition(".")[2] for part in suspicious), name
    assert allowed.function("torch.ops.aten.add.Tensor") is torch.ops.aten.add.Tensor
    assert allowed.function("torch.ops.aten.relu_") is torch.ops.aten.relu_


_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **{"Linear": (3, 2), "Conv1d": (2, 3, 3), "Conv2d": (2, 3, (3, 2)), "BatchNorm1d": (3,), "BatchNorm2d": (3,)},
    **{"LayerNorm": ((3, 4),), "RMSNorm": (4,), "GroupNorm": (2, 4), "Embedding": (7, 3), "Unflatten": (1, (2, 2))},
    **{"LeakyReLU": (0.3, True), "Hardtanh": (-2.0, 3.0), "Dropout": (0.3,), "GELU": ("tanh",), "Softmax": (1,)},
    **{f"{pool}{kind}d": (3,) for pool in ("MaxPool", "AvgPool", "AdaptiveAvgPool", "ZeroPad") for kind in "12"},
    **{"PReLU": (3,), "Threshold": (0.1, 20.0)},
}


@pytest.mark.parametrize("name", allowed._MODULES)
def test_allowed_module_is_rebuilt(name: str) -> None:
    module = getattr(nn, name)(*_ARGUMENTS.get(name, ()))
    holder = fx.GraphModule(nn.Module(), fx.Graph())
    holder.add_module("made", module.eval())
    again = through(holder, Given(nn.Module()), nn.Module()).get_submodule("made")
    assert type(again) is type(module)
    assert repr(again) == repr(module)
    assert again.training == module.training
    assert {k: v.tolist() for k, v in again.state_dict().items()} == {
        k: v.tolist() for k, v in module.state_dict().items()
    }
    public = {key: value for key, value in vars(module).items() if not key.startswith("_")}
    assert {key: value for key, value in vars(again).items() if not key.startswith("_")} == public
