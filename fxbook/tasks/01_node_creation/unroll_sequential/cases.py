"""A chain of layers, and nested blocks of layers."""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import rows, trained, with_its_gradients


def mlp() -> nn.Module:
    """Linear, norm, activation, linear."""
    return nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6, eps=0.1), nn.LeakyReLU(0.3), nn.Linear(6, 2))


def nested() -> nn.Module:
    """Nested blocks, one with named layers; a layer without a bias; a norm without weights.

    One layer is in three places, two of them in a row.
    """
    shared = nn.Linear(4, 4)
    named = nn.Sequential(
        OrderedDict(mix=nn.Linear(4, 4, bias=False), norm=nn.LayerNorm(4, eps=0.02), bend=nn.LeakyReLU(0.01))
    )
    block = nn.Sequential(shared, nn.LeakyReLU(1.5), named)
    return nn.Sequential(
        nn.LayerNorm(4, elementwise_affine=False), block, shared, shared, nn.LayerNorm(4, eps=0.01, bias=False)
    )


def zeros() -> nn.Module:
    """Settings of zero, which a default must not replace; a norm over two dimensions; a frozen bias; an empty block."""
    norm, linear = nn.LayerNorm((3, 4), eps=0.0, elementwise_affine=False), nn.Linear(4, 3)
    linear.bias.requires_grad_(False)
    return nn.Sequential(nn.LeakyReLU(0.5), norm, nn.LeakyReLU(0.0), linear, nn.Sequential())


def small() -> tuple[Tensor]:
    """Rows with so little variance that ``eps`` makes a difference."""
    return (torch.randn(2, 3, 4) / 1000,)


USAGE = Usage(
    "pass",
    cases=(
        Case("the MLP", lambda: trained(mlp()), rows(4)),
        Case("the nested model", lambda: trained(nested()), rows(4), unseen=True),
        Case("settings of zero, a norm over two dimensions", lambda: trained(zeros()), small, unseen=True),
    ),
    call=with_its_gradients,
)
