"""Record a run of a graph as a new graph of ATen operators, with the same weight names and the same meta."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal

import torch
from torch import Tensor, fx, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.graph import _PyTreeCodeGen, _PyTreeInfo
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

_SWITCHES = (Tensor.requires_grad_, Tensor.requires_grad.__set__)  # type: ignore[attr-defined]


def lower(
    module: fx.GraphModule,
    *inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    table: Mapping[Any, Callable[..., Any]] | None = None,
    mode: Literal["real", "symbolic"] = "real",
) -> fx.GraphModule:
    """Return a module of ATen operators that computes what `module` computes.

    The module runs once, including its writes. The recording fixes what that run took from Python: the training mode,
    dtypes, numbers among the inputs, defaults. The weights are shared, under the names of the old module. The new
    module takes its inputs as they are given here, by position or by name.

    Args:
        module: from `symbolic_trace`, `make_fx`, `torch.compile` or `torch.export`.
        inputs: the inputs of the run.
        kwargs: keyword inputs. The new module takes these by name, or after the other inputs in this order.
        table: functions that replace operators such as ``torch.ops.aten.silu.default``.
        mode: ``"real"``, or ``"symbolic"`` for all sizes that the guards in ``shape_env`` admit.

    Raises:
        TypeError: the module does not take these inputs.
        ValueError: the recording would be a different program. The message says why.
    """
    given = (inputs, dict(kwargs or {}))
    values, spec = pytree.tree_flatten(given)
    _refuse_one_for_two(module, values)

    def run(*values: Any) -> Any:
        args, named = pytree.tree_unflatten(values, spec)
        with _OperatorsAlone():
            result = fx.Interpreter(module).run(initial_env=_bound(module, args, named))
        if any(map(dataclasses.is_dataclass, pytree.tree_leaves(result))):
            raise ValueError("register the result's class with pytree")
        return result

    record = make_fx(run, decomposition_table=table, tracing_mode=mode, _allow_non_fake_inputs=True)
    with fx.traceback.preserve_node_meta():
        recorded = record(*values)
    if spec != pytree.tree_flatten((tuple(values), {}))[1]:
        # The names that torch.export gives. make_fx itself takes two inputs, a tuple and a dict.
        names = [*(f"arg{place}" for place in range(len(inputs))), *given[1]]
        recorded.graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(names, spec, None)))
    lowered = _with_old_names(recorded, module)
    lowered.shape_env = getattr(recorded, "shape_env", None)
    return lowered.train(module.training)


class _OperatorsAlone(TorchFunctionMode):
    """Raise if a tensor starts or stops requiring a gradient, which no recorded operator shows."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        before = args[0].requires_grad if func in _SWITCHES else None
        result = func(*args, **(kwargs or {}))
        asks = bool(kwargs and kwargs.get("requires_grad") and torch.is_grad_enabled())
        if asks or (before is not None and args[0].requires_grad != before):
            raise ValueError("no operator records requires_grad: set it on an input, before the graph")
        return result


def _bound(module: fx.GraphModule, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[fx.Node, Any]:
    """The value that each placeholder gets when the module is called, according to the module's signature."""
    placeholders = module.graph.find_nodes(op="placeholder")
    graph = fx.Graph()
    graph.output([graph.node_copy(node) for node in placeholders])
    codegen = module.graph._codegen
    if isinstance(codegen, _PyTreeCodeGen):
        graph.set_codegen(_PyTreeCodeGen(codegen.pytree_info._replace(out_spec=None)))
    try:
        values = fx.GraphModule(nn.Module(), graph).forward(*args, **kwargs)
    except (TypeError, LookupError, RuntimeError) as error:
        raise TypeError(f"the module does not take these inputs: {error}") from error
    return dict(zip(placeholders, values, strict=True))


def _refuse_one_for_two(module: fx.GraphModule, values: list[Any]) -> None:
    """Raise if an input is passed twice or is also a weight: a recording distinguishes tensors by identity."""
    held = [*values, *module.parameters(), *module.buffers()]
    tensors = [id(value) for value in held if isinstance(value, Tensor)]
    if len({*tensors}) < len(tensors):
        raise ValueError("clone the input that is given twice, or is a weight")


def _with_old_names(recorded: fx.GraphModule, module: fx.GraphModule) -> fx.GraphModule:
    """Name the weights of the recorded graph as in `module`; a constant that the run made is named ``lowered…``."""
    old_names = {id(tensor): name for name, tensor in [*module.named_parameters(), *module.named_buffers()]}
    attributes = {}
    for node in recorded.graph.find_nodes(op="get_attr"):
        value = getattr(recorded, node.target)
        free = f"lowered{node.target}"
        while free in old_names.values():
            free += "_"
        node.target = old_names.setdefault(id(value), free)
        attributes[node.target] = value
    recorded.graph._tracer_cls = None  # make_fx's tracer cannot load a weight whose name has a dot
    named = fx.GraphModule(attributes, recorded.graph)
    saved = module.state_dict()
    for name, _ in [*named.named_buffers()]:
        if name not in saved:
            path, _, last = name.rpartition(".")
            named.get_submodule(path)._non_persistent_buffers_set.add(last)
    return named
