"""Store tensors and layers in the module of a graph, and delete those that no node needs."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, fx, nn

from fxbook.surgery.effects import effect


def store(module: fx.GraphModule, name: str, value: Tensor | nn.Module) -> str:
    """Store a parameter or a layer, or any other tensor as a buffer, in the root module; return the name there.

    The containers inside a traced module may belong to the model that was traced, so nothing is stored in them.
    """
    name = name.replace(".", "_")
    while hasattr(module, name):
        name += "_"
    if isinstance(value, nn.Module | nn.Parameter):
        setattr(module, name, value)
    else:
        module.register_buffer(name, value)
    return name


def forget(module: fx.GraphModule, targets: Iterable[str]) -> None:
    """Delete the tensors and layers with these qualified names, except those that a node needs.

    A node needs what it fetches or calls, everything inside that, and whatever contains it.
    """
    fetched = [node.target for node in module.graph.nodes if node.op in ("get_attr", "call_module")]
    needed = [f"{target}." for target in fetched]
    for target in dict.fromkeys(targets):
        path = f"{target}."
        if not any(path.startswith(one) or one.startswith(path) for one in needed):
            parent, _, name = target.rpartition(".")
            delattr(module.get_submodule(parent), name)


def retire(node: fx.Node) -> None:
    """Erase a node without users, and everything that only it needed: nodes, stored tensors, layers.

    Inputs of the graph stay, and so do calls that do more than return a value.

    Raises:
        RuntimeError: the node has a user.
    """
    module, waiting = node.graph.owning_module, [node]
    while waiting:
        last = waiting.pop()
        reads, fetched = last.all_input_nodes, last.op in ("get_attr", "call_module")
        last.graph.erase_node(last)
        if fetched:
            forget(module, [str(last.target)])
        waiting += [read for read in reads if not read.users and read.op != "placeholder" and effect(read) is None]
