"""Networks to measure, with in-place operations, views, fetched weights and unused inputs."""

from __future__ import annotations

from typing import Any

import torch

# A FlopCounterMode imports this on first use, which takes longer than a check may, so it is imported before the fork.
import torch._dynamo
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

from fxbook.cases import Case, Usage

from ..cases import Block, CleanBlock, functional, lived


class ResNet(nn.Module):
    """The network of the project, in eval mode and without its flag, but not yet cleaned."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.blocks = nn.Sequential(Block(4, 4), Block(4, 6, 2))
        self.auxiliary = nn.Sequential(nn.Conv2d(6, 3, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.pool, self.drop, self.head = nn.AdaptiveAvgPool2d(1), nn.Dropout(0.2), nn.Linear(6, 3)
        lived(self)

    def forward(self, images: Tensor, mean: Tensor, std: Tensor) -> Tensor:
        x = self.blocks(functional.relu(self.norm(self.stem((images - mean) / std))))
        self.auxiliary(x)
        return self.head(self.drop(self.pool(x).flatten(1)))


class Small(nn.Module):
    """The same network, with its norms folded and its activations in place. Its ``std`` is a number."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.head = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(6, 3)
        self.blocks = nn.Sequential(CleanBlock(4, 4, norms=False), CleanBlock(4, 6, 2, norms=False))
        for module in self.modules():
            if isinstance(module, nn.ReLU):
                module.inplace = True
        self.eval()

    def forward(self, images: Tensor, mean: Tensor, std: float = 1.0) -> Tensor:
        x = self.blocks(functional.relu(self.stem((images - mean) / std), inplace=True))
        return self.head(x.mean((2, 3)))


class Widened(nn.Module):
    """A product with a fetched weight and bias, which belong to a traced submodule; the weight is used as a view."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 96))
        self.register_buffer("bias", torch.randn(96))

    def forward(self, images: Tensor) -> Tensor:
        return functional.linear(images, self.weight.t(), self.bias)


class Mixed(nn.Module):
    """An unused input; a size among the values; a node with two results; products of two values; views; and a peak at a
    node that uses an input and fetched weights.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.wide = nn.Conv2d(3, 3, 1), Widened()
        self.eval()

    def forward(self, images: Tensor, mean: Tensor, unread: Tensor) -> tuple[Tensor, ...]:
        mixed = images @ images.mT
        largest, places = torch.topk(self.conv(mixed), 3)
        # All values after the product are smaller than its weight and its bias, so the peak shows whether these count.
        most = self.wide(images).amax(-1, keepdim=True)
        together = torch.cat([largest, places.float(), most - mean], dim=-1)
        return together, mixed.reshape(images.size(0), -1)


class Sorted(nn.Module):
    """A peak at a node with two results, one of them unused. Two columns keep all memory of a value alive, and the run
    keeps a value that no node uses.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)
        self.eval()

    def forward(self, images: Tensor, mean: Tensor, std: Tensor) -> Tensor:
        hidden = self.conv((images - mean) / std)
        powers = hidden.exp()
        hidden.double()
        first, last = powers[..., :1], powers[..., -1:]
        return hidden.sort(-1)[0] - first * last


def with_inputs(model: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer: the traced network, and the list of its inputs."""
    # The sizes of the first case are fixed, because they appear in a report that is stored in the notebook.
    size, batch = 6, 2 if isinstance(model, ResNet) else int(torch.randint(1, 4, ()))
    images, mean = torch.randn(batch, 3, size, size), torch.randn(3, 1, 1)
    third = torch.randn(batch, 3, 4, 4) if isinstance(model, Mixed) else torch.rand(3, 1, 1) + 0.5
    return fx.symbolic_trace(model), [images, mean, 0.9 if isinstance(model, Small) else third]


def called(answer: Any, traced: fx.GraphModule, inputs: list[Any]) -> Any:
    """What the answer returns; it gets the only list that holds its inputs."""
    return answer(traced, [pytree.tree_map_only(Tensor, torch.clone, value) for value in inputs])


USAGE = Usage(
    "compute",
    cases=(
        Case("the network of the project, before cleaning", ResNet, tuple),
        Case("the network of the project, in place", Small, tuple),
        Case("weights, views and an unused input", Mixed, tuple, unseen=True),
        Case("two columns of a value, two results of one node", Sorted, tuple, unseen=True),
    ),
    given=with_inputs,
    call=called,
)
