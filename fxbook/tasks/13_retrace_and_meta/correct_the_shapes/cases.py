"""Exported graphs with shapes in their notes, edited so that some of the shapes are wrong."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exported import exported_graph

from ..cases import WIDTH, Gated, llama, vit

_aten = torch.ops.aten
_BATCH, _LENGTH = 3, 7


def _cast(value: Tensor) -> tuple[Any, tuple[Any, ...]]:
    """A node that changes the dtype, but no shape."""
    return _aten.to.dtype, (torch.float64,)


def _fewer(value: Tensor) -> tuple[Any, tuple[Any, ...]]:
    """Only the first rows of the batch."""
    return _aten.slice.Tensor, (0, 0, int(torch.randint(1, _BATCH, ())))


def _cut(value: Tensor) -> tuple[Any, tuple[Any, ...]]:
    """Only the first or the last tokens of each row."""
    count = int(torch.randint(1, _LENGTH - 1, ()))
    return _aten.slice.Tensor, ((1, -count) if torch.rand(()) < 0.5 else (1, 0, count))


def _pooled(value: Tensor) -> tuple[Any, tuple[Any, ...]]:
    """The mean over the tokens, which stay as a dimension of size 1."""
    return _aten.mean.dim, ([1], True)


def _narrow(value: Tensor) -> tuple[Any, tuple[Any, ...]]:
    """Only the first features of each token."""
    return _aten.slice.Tensor, (2, 0, int(torch.randint(1, WIDTH - 1, ())))


class Pointwise(nn.Module):
    """Steps that accept values of any width."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.exp(torch.tanh(torch.relu(x)))


def _shape(node: fx.Node) -> tuple[int, ...] | None:
    value = node.meta.get("val")
    return tuple(value.shape) if isinstance(value, Tensor) else None


def _meets_another(node: fx.Node) -> bool:
    """Whether a later node combines this value with another value, whose shape would then not match."""
    return any(
        _shape(user) == _shape(node) and len([one for one in user.all_input_nodes if one.op != "get_attr"]) > 1
        for user in node.users
    ) or any(_shape(user) != _shape(node) and user.target is _aten.mean.dim for user in node.users)


@functools.cache
def _exported(build: Callable[[], nn.Module]) -> fx.GraphModule:
    # Only the first case in a process gets here, and its random numbers must not change those of other cases.
    with torch.random.fork_rng():
        module = exported_graph(build(), torch.randn(_BATCH, _LENGTH, WIDTH))
    # A node that asserts has no value. The shape is recorded only under "val".
    for node in reversed(module.graph.nodes):
        node.meta.pop("tensor_meta", None)
        if node.target is _aten._assert_tensor_metadata.default:
            module.graph.erase_node(node)
    module.recompile()
    return module


def edited(
    build: Callable[[], nn.Module], edit: Callable[[Tensor], Any], at_the_end: bool = False, is_turned: bool = False
) -> Callable[[nn.Module], tuple[Any, ...]]:
    """A copy of the exported graph with one more node, after a random node or after the last node; and an input.

    A turned input has batch and length swapped, so each shape has the same sizes in another order.
    """

    def given(model: nn.Module) -> tuple[Any, ...]:
        with warnings.catch_warnings():
            # torch warns about its own code.
            warnings.simplefilter("ignore", FutureWarning)
            module = copy.deepcopy(_exported(build))
        wide = (_BATCH, _LENGTH, WIDTH)
        places = [
            node
            for node in module.graph.nodes
            if node.op in ("placeholder", "call_function")
            and _shape(node) == wide
            and not _meets_another(node)
            and any((user.op == "output") is at_the_end for user in node.users)
        ]
        place = places[int(torch.randint(len(places), ()))]
        target, others = edit(place.meta["val"])
        with module.graph.inserting_after(place):
            new = module.graph.call_function(target, (place, *others))
        place.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
        module.recompile()
        return module, torch.randn(_LENGTH, _BATCH, WIDTH) if is_turned else torch.randn(*wide)

    return given


USAGE = Usage(
    "compute",
    cases=(
        Case("a block of Llama, fewer tokens", llama, tuple, given=edited(llama, _cut)),
        Case("a block of ViT, a smaller batch", vit, tuple, given=edited(vit, _fewer)),
        Case("a node that changes no shape", Pointwise, tuple, unseen=True, given=edited(Pointwise, _cast)),
        Case("a node at the end", llama, tuple, unseen=True, given=edited(llama, _cut, at_the_end=True)),
        Case("the mean of the tokens", Gated, tuple, unseen=True, given=edited(Gated, _pooled)),
        Case("fewer features", Pointwise, tuple, unseen=True, given=edited(Pointwise, _narrow)),
        Case(
            "another batch and length",
            llama,
            tuple,
            unseen=True,
            given=edited(llama, _cast, at_the_end=True, is_turned=True),
        ),
    ),
)
