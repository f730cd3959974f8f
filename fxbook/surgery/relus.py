"""Find every ReLU that a graph calls, replace it with GELU, and count the operators that a run calls."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.fx.passes.infra.pass_base import PassResult
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten
IN_PLACE = {torch.relu_, "relu_", aten.relu_, aten.relu_.default}
RELUS = {nn.functional.relu, torch.relu, "relu", aten.relu, aten.relu.default}


def find_relus(module: fx.GraphModule) -> dict[fx.Node, bool]:
    """The nodes that call a ReLU, and for each, whether it works in place.

    A subclass of ``nn.ReLU`` may compute something else, so it does not count.

    Raises:
        ValueError: an input of the graph decides whether a call works in place.
    """
    found = {}
    for node in module.graph.nodes:
        if node.op == "call_module":
            layer = module.get_submodule(node.target)
            if type(layer) is nn.ReLU:
                found[node] = layer.inplace
        elif node.op in ("call_function", "call_method") and node.target in RELUS | IN_PLACE:
            inplace = node.kwargs.get("inplace", *node.args[1:2])
            if isinstance(inplace, fx.Node):
                raise ValueError(f"{node} may write, depending on {inplace}")
            found[node] = node.target in IN_PLACE or bool(inplace)
    return found


def relu_to_gelu(module: fx.GraphModule) -> PassResult:
    """Call GELU wherever the graph calls ReLU, on a copy where the ReLU worked in place.

    A ReLU inside a leaf module or a nested ``GraphModule`` stays. Hooks on a ReLU module are lost.
    """
    graph, found = module.graph, find_relus(module)
    for node, in_place in found.items():
        [value] = node.all_input_nodes
        with graph.inserting_before(node):
            # GELU needs its input for its gradient, so it gets a copy of what will be overwritten.
            read = graph.call_method("clone", (value,)) if in_place else value
            new = graph.call_function(nn.functional.gelu, (read,))
            if in_place:
                read.meta, new.meta = dict(node.meta), dict(node.meta)
                new = graph.call_method("copy_", (value, new))
        node.replace_all_uses_with(new, propagate_meta=True)
        graph.erase_node(node)
    used = tuple(f"{node.target}." for node in graph.nodes if node.op in ("call_module", "get_attr"))
    for node in found:
        # A layer that is still called shares its contents with the model, so they stay.
        if node.op == "call_module" and not f"{node.target}.".startswith(used):
            module.delete_submodule(str(node.target))
    graph.lint()
    module.recompile()
    return PassResult(module, bool(found))


class Operators(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.called: list[Any] = []

    def __torch_dispatch__(
        self, called: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        self.called.append(getattr(called, "overloadpacket", called))
        return called(*args, **(kwargs or {}))


def operators_run(module: nn.Module, *inputs: Any) -> Counter[str]:
    """Count the operators of a run on copies of the module and the inputs, with the fast path of transformers off.

    The copy of a ``GraphModule`` has no hooks, and an edit that was not recompiled takes effect in it.

    Example:
        >>> import torch
        >>> from fxbook.surgery.relus import operators_run
        >>> operators_run(torch.nn.ReLU(), torch.ones(2))
        Counter({'aten.relu': 1})
    """

    def copied(value: Tensor) -> Tensor:
        return value.detach().clone()

    module, inputs = copy.deepcopy(module), pytree.tree_map_only(Tensor, copied, inputs)
    enabled = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with Operators() as run:
            module(*inputs)
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)
    return Counter(str(called) for called in run.called)
