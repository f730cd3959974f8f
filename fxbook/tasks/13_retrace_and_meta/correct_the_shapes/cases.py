"""Exported graphs to which a node was added, so that some of the shapes recorded in ``meta`` are wrong."""

from __future__ import annotations

import copy
import functools
import operator
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


Call = tuple[Any, tuple[Any, ...]]  # The operator that a new node calls, and its arguments after the value.


def _cast() -> Call:
    """Change the dtype, but no shape."""
    return _aten.to.dtype, (torch.float64,)


def _fewer() -> Call:
    """Keep only the first rows of the batch."""
    return _aten.slice.Tensor, (0, 0, int(torch.randint(1, _BATCH, ())))


def _cut() -> Call:
    """Keep only the first or only the last tokens of each row."""
    count = int(torch.randint(1, _LENGTH - 1, ()))
    return _aten.slice.Tensor, ((1, -count) if torch.rand(()) < 0.5 else (1, 0, count))


def _pooled() -> Call:
    """Take the mean over the tokens; their dimension stays, with size 1."""
    return _aten.mean.dim, ([1], True)


def _narrow() -> Call:
    """Keep only the first features of each token, with a function that is not an ATen operator."""
    return operator.getitem, ((..., slice(int(torch.randint(1, WIDTH - 1, ())))),)


class Pointwise(nn.Module):
    """Pointwise operations, which accept values of any width."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.exp(torch.tanh(torch.relu(x)))


def _shape(node: fx.Node) -> tuple[int, ...] | None:
    value = node.meta.get("val")
    return tuple(value.shape) if isinstance(value, Tensor) else None


def _meets_another(node: fx.Node) -> bool:
    """Whether a user combines the node's value with another value of its shape, or takes a mean over a dimension."""
    return any(
        _shape(user) == _shape(node) and len([one for one in user.all_input_nodes if one.op != "get_attr"]) > 1
        for user in node.users
    ) or any(_shape(user) != _shape(node) and user.target is _aten.mean.dim for user in node.users)


@functools.cache
def _exported(build: Callable[[], nn.Module]) -> fx.GraphModule:
    # Only the first case in a process gets here, and its random numbers must not change those of other cases.
    with torch.random.fork_rng():
        module = exported_graph(build(), torch.randn(_BATCH, _LENGTH, WIDTH))
    # An assertion has no shape. Keep shapes under "val" alone.
    for node in reversed(module.graph.nodes):
        node.meta.pop("tensor_meta", None)
        if node.target is _aten._assert_tensor_metadata.default:
            module.graph.erase_node(node)
    module.recompile()
    return module


def edited(
    build: Callable[[], nn.Module], edit: Callable[[], Call], at_the_end: bool = False, swapped: bool = False
) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the arguments of the answer: the exported graph with a new node, and an input.

    The new node follows a random node, or, if ``at_the_end``, the last node, and then it also has a dead user. If
    ``swapped``, the batch size and the length of the input are swapped, so every shape has the same sizes in a
    different order; otherwise, only the strides of the input differ.
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
        target, others = edit()
        with module.graph.inserting_after(place):
            new = module.graph.call_function(target, (place, *others))
        place.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
        with module.graph.inserting_after(new):
            if at_the_end:
                module.graph.call_function(_aten.neg.default, (new,))
        module.recompile()
        x = torch.randn(_LENGTH, _BATCH, WIDTH)
        return module, x if swapped else x.transpose(0, 1)

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
        Case("batch size and length swapped", llama, tuple, True, edited(llama, _cast, at_the_end=True, swapped=True)),
    ),
)
