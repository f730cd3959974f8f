"""A planted fault (a pass, a model, its inputs and the invariants that detect the fault), and common edits."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import fx, nn
from torch.export import ExportedProgram
from torch.fx.passes.infra.pass_base import PassResult

Model = Callable[[], fx.GraphModule | ExportedProgram]


@dataclasses.dataclass(frozen=True)
class Plant:
    """A pass that is right, or wrong in one way.

    Attributes:
        run: the pass.
        model: makes the model.
        inputs: the model's inputs.
        noticed_by: the invariants that may detect the fault; none for a correct pass.
        advised: whether the fault is reported as advice, because other passes may have that effect on purpose.
    """

    run: Callable[..., Any]
    model: Model
    inputs: tuple[Any, ...]
    noticed_by: tuple[str, ...] = ()
    advised: bool = False

    @property
    def name(self) -> str:
        """The name of the pass, and of the model if several plants share the pass."""
        return f"{self.run.__name__}-{self.model.__name__}"


def done(module: fx.GraphModule, modified: bool = True) -> PassResult:
    module.graph.lint()
    module.recompile()
    return PassResult(module, modified)


def calls(module: fx.GraphModule, *targets: Any) -> list[fx.Node]:
    """The nodes that call one of these functions, methods or modules."""
    return [node for node in module.graph.nodes if node.target in targets]


def erase(node: fx.Node) -> None:
    """Replace a node with its first input."""
    if node.users:
        node.replace_all_uses_with(node.args[0])
    node.graph.erase_node(node)


def behind(node: fx.Node, make: Callable[[fx.Graph], fx.Node]) -> fx.Node:
    """Insert a node after another, and make all users of the other use the new one."""
    with node.graph.inserting_after(node):
        new = make(node.graph)
    new.meta = dict(node.meta)
    node.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
    return new


def layers_of(module: fx.GraphModule, kind: type[nn.Module]) -> Iterator[tuple[fx.Node, nn.Module]]:
    """The calls to layers of a class."""
    for node in list(module.graph.nodes):
        if node.op == "call_module" and isinstance(layer := module.get_submodule(node.target), kind):
            yield node, layer


def rows(*shape: int) -> torch.Tensor:
    """A tensor with the same numbers each time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(3))
