"""Linear layers and convolutions of random sizes; in some, a randomly chosen channel is zero."""

from __future__ import annotations

import torch
from torch import nn

from fxbook.cases import Case, Usage


def linear() -> nn.Module:
    return nn.Linear(*torch.randint(3, 9, (2,)).tolist())


def convolution() -> nn.Module:
    groups = int(torch.randint(2, 4, ()))
    return nn.Conv2d(2 * groups, 3 * groups, (3, 2), groups=groups)


def with_zeros() -> nn.Module:
    """A layer with a channel of zeros, a channel of tiny numbers, and channels of different magnitudes.

    One weight of each channel is zero.
    """
    layer = linear()
    with torch.no_grad():
        layer.weight.mul_(torch.rand(len(layer.weight), 1) * 50)
        zero, tiny, *_ = torch.randperm(len(layer.weight))
        layer.weight[zero] = 0
        layer.weight[tiny] *= 1e-9
        layer.weight[:, torch.randint(layer.weight.shape[1], ())] = 0
    return layer


def arguments(layer: nn.Module) -> tuple[nn.Module]:
    return (layer,)


USAGE = Usage(
    "compute",
    cases=(
        Case("a linear layer", linear, tuple, given=arguments),
        Case("a convolution with groups", convolution, tuple, given=arguments),
        Case("a channel of zeros", with_zeros, tuple, given=arguments),
        Case("another convolution", convolution, tuple, unseen=True, given=arguments),
    ),
)
