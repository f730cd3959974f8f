"""Exported graphs in which randomly chosen norms are in training mode, and a random layer has a second user."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import exported, real, shuffled

_aten = torch.ops.aten
_functional = nn.functional
_LAYERS = (_aten.conv1d.default, _aten.conv2d.default, _aten.linear.default)


class Rows(nn.Module):
    """Linear layers and 1-d convolutions, each called on a batch and on an input with one dimension more or fewer."""

    def __init__(self) -> None:
        super().__init__()
        self.flat, self.deep = nn.Linear(6, 6), nn.Linear(6, 6)
        self.slide, self.alone = nn.Conv1d(6, 6, 1), nn.Conv1d(6, 6, 1)
        self.norms = nn.ModuleList(nn.BatchNorm1d(6) for _ in range(8))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        first, second, third, fourth, fifth, sixth, seventh, last = self.norms
        rows = second(self.flat(first(self.flat(x[:, 0]))))
        deep = third(self.deep(fourth(self.deep(x))))
        slid = sixth(self.slide(fifth(self.slide(x))))
        alone = last(self.alone(seventh(self.alone(x[0]))))
        return rows, deep, slid, alone


class Shared(nn.Module):
    """A convolution and a norm that are called several times; norms after other operations; other kinds of convolution;
    and, after convolutions whose weight is a buffer, norms without weights: one unused, one used twice, two on one
    result, and one on a result that is also returned.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.other = nn.Conv2d(3, 3, 1), nn.Conv2d(3, 3, 3, padding=1, bias=False)
        self.up, self.cube = nn.ConvTranspose2d(3, 3, 1), nn.Conv3d(3, 3, 1)
        self.same = nn.Conv2d(3, 3, 3, padding="same")
        self.norm, self.plain, self.deep = nn.BatchNorm2d(3), nn.BatchNorm2d(3, affine=False), nn.BatchNorm3d(3)
        self.register_buffer("kernel", torch.ones(3, 3, 1, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        one = self.norm(self.conv(x)) + self.norm(self.conv(torch.neg(x)))
        two = self.norm(torch.relu(self.other(one))) - self.norm(self.other(one))
        three = self.norm(self.norm(self.other(two)))
        four = self.norm(_functional.dropout(self.conv(three), 0.5, self.training))
        unused, twice = (self.plain(_functional.conv2d(value, self.kernel)) for value in (one, two))
        both, shown = (_functional.conv2d(value, self.kernel) for value in (three, x))
        up, cube, same = self.norm(self.up(three)), self.deep(self.cube(x[..., None])), self.norm(self.same(x))
        norms = [self.plain(result) for result in (both, both, shown)]
        return unused, four, up, cube, same, twice, twice.neg(), *norms, shown


def rows() -> tuple[nn.Module, Tensor]:
    return Rows().eval(), torch.randn(6, 6, 6)


def shared() -> tuple[nn.Module, Tensor]:
    return Shared().eval(), torch.randn(2, 3, 4, 4)


def changed(build: Callable[[], tuple[nn.Module, Tensor]]) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the argument of the answer: the exported graph, in which some norms train and a layer has a second user."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        module = exported(build)
        norms = module.graph.find_nodes(op="call_function", target=_aten.batch_norm.default)
        # Leave at least one norm that can be folded, and the norms without a weight, as they are.
        first, *others = shuffled([norm for norm in norms if norm.args[0].target in _LAYERS and norm.args[1]])
        _use_again(first)
        for norm in others[: max(1, len(others) // 4)]:
            norm.update_arg(5, True)
        module.recompile()
        return (module,)

    return given


def _use_again(norm: fx.Node) -> None:
    """Add a call that uses the norm's input in a list, and return its result in place of the graph's first result."""
    graph = norm.graph
    output = graph.output_node()
    with graph.inserting_before(output):
        again = graph.call_function(_aten.cat.default, ([norm, norm.args[0]],))
    results = output.args[0]
    output.args = ((*results[len(results) > 1 :], again),)


# The cases get a graph, not a model.
_nothing, _resnet = functools.partial(nn.Module), functools.partial(real, "resnet")

USAGE = Usage(
    "compute",
    cases=(
        Case("a ResNet", _nothing, tuple, given=changed(_resnet)),
        Case("linear layers and 1-d convolutions", _nothing, tuple, given=changed(rows)),
        Case("shared layers", _nothing, tuple, unseen=True, given=changed(shared)),
        Case("linear layers, other norms in training", _nothing, tuple, unseen=True, given=changed(rows)),
    ),
)
