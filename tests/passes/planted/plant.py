"""What a planted fault is: a pass, a model, inputs, and what notices it; and the edits that many of them make."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult

Model = Callable[[], fx.GraphModule]


@dataclasses.dataclass(frozen=True)
class Plant:
    """A pass that is wrong in one way, or right.

    Attributes:
        run: the pass.
        model: makes what it is tried on.
        inputs: of the model.
        noticed_by: the invariants that may notice it; none for a right pass.
        advised: whether it is told as advice: what such a pass costs is no fault of every pass that costs it.
    """

    run: Callable[[fx.GraphModule], Any]
    model: Model
    inputs: tuple[Any, ...]
    noticed_by: tuple[str, ...] = ()
    advised: bool = False

    @property
    def name(self) -> str:
        """Of the pass, and of its model where several have one."""
        return f"{self.run.__name__}-{self.model.__name__}"


def done(module: fx.GraphModule, modified: bool = True) -> PassResult:
    """Compile what was edited."""
    module.graph.lint()
    module.recompile()
    return PassResult(module, modified)


def calls(module: fx.GraphModule, *targets: Any) -> list[fx.Node]:
    """The nodes that call one of the functions, methods or modules."""
    return [node for node in module.graph.nodes if node.target in targets]


def erase(node: fx.Node) -> None:
    """Leave a node out; its first input takes its place."""
    if node.users:
        node.replace_all_uses_with(node.args[0])
    node.graph.erase_node(node)


def behind(node: fx.Node, make: Callable[[fx.Graph], fx.Node]) -> fx.Node:
    """Put a node behind another, which all users read from now on."""
    with node.graph.inserting_after(node):
        new = make(node.graph)
    new.meta = dict(node.meta)
    node.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
    return new


def layers_of(module: fx.GraphModule, kind: type[nn.Module]) -> Iterator[tuple[fx.Node, nn.Module]]:
    """The calls of layers of a class."""
    for node in list(module.graph.nodes):
        if node.op == "call_module" and isinstance(layer := module.get_submodule(node.target), kind):
            yield node, layer


def rows(*shape: int) -> torch.Tensor:
    """Numbers that are the same each time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(3))
