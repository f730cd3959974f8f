"""Networks with norms that can be folded and norms that cannot: in float64, where errors show, and one in float32."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import CleanBlock, functional, images, lived, with_two_names


class ResNet(nn.Module):
    """The network of the project, with the mean in place of the pool."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.blocks, self.head = nn.Sequential(CleanBlock(4, 4), CleanBlock(4, 6, 2)), nn.Linear(6, 3)
        lived(self.double())

    def forward(self, images: Tensor, mean: Tensor, std: Tensor | float = 1.0) -> Tensor:
        x = self.blocks(functional.relu(self.norm(self.stem((images - mean) / std))))
        return self.head(x.mean((2, 3)))


class Shared(nn.Module):
    """Convolutions: one is called twice, and another has its second call at the end; one has two names; the result of
    one has two users; and two share their weights.
    """

    def __init__(self) -> None:
        super().__init__()
        self.twice, self.norm1, self.norm2 = nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3), nn.BatchNorm2d(3)
        self.named, self.norm3 = nn.Conv2d(3, 3, 1, bias=False), nn.BatchNorm2d(3)
        self.again, self.norm4 = self.named, nn.BatchNorm2d(3)
        self.read, self.norm5 = nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)
        self.tied1, self.tied2, self.norm6 = nn.Conv2d(3, 3, 1), nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)
        self.late, self.norm7 = nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)
        self.tied2.weight, self.tied2.bias = self.tied1.weight, self.tied1.bias
        lived(self.double())

    def forward(self, images: Tensor, mean: Tensor, std: Tensor) -> Tensor:
        x = self.norm1(self.twice(images)) + self.norm2(self.twice(images - mean))
        x = self.norm3(self.named(x)) + self.norm4(self.again(x))
        read = self.read(x)
        x = self.norm5(read) + torch.relu(read)
        x = self.norm6(self.tied1(x)) - torch.relu(self.tied2(x))
        return (self.norm7(self.late(x)) + self.late(x)).mean((2, 3))


class Settings(nn.Module):
    """Convolutions with groups, dilation and circular padding, with a stride, and without a bias; norms called later,
    called by keyword, without weights, and with another eps; a dead node; and norms that stay: without statistics, in
    training mode, of another class (one also follows a convolution of another class), or after an activation, a sum or
    a transposed convolution.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=2, dilation=2, groups=3, padding_mode="circular")
        self.norm1 = nn.BatchNorm2d(6, affine=False)
        self.second = nn.Sequential(nn.Conv2d(6, 4, 1, 2, bias=False), nn.BatchNorm2d(4, eps=0.3))
        self.third, self.bare = nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4, track_running_stats=False)
        self.fourth, self.training_norm = nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4)
        self.fifth, self.both = nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4)
        self.sixth, self.alone = nn.Conv2d(4, 4, 1, bias=False), nn.BatchNorm2d(3)
        self.upwards, self.last = nn.ConvTranspose2d(4, 4, 1), nn.BatchNorm2d(4)
        self.seventh, self.instance = nn.Conv2d(4, 4, 1), nn.InstanceNorm2d(4, affine=True, track_running_stats=True)
        self.line, self.line_norm = nn.Conv1d(4, 4, 1), nn.BatchNorm1d(4)
        lived(self.double())
        self.training_norm.train()
        self.both.track_running_stats = False  # which does not matter in eval mode

    def forward(self, images: Tensor, mean: Tensor, std: Tensor) -> tuple[Tensor, Tensor]:
        torch.sigmoid(mean)
        start = self.second(self.norm1(input=self.first(self.alone(images))))
        x = self.bare(self.third(start))
        x = torch.relu(self.training_norm(self.fourth(x)))
        early = self.sixth(x)
        x = self.both(torch.relu(self.fifth(x))) + self.both(early) * self.both(x + mean.mean())
        # The norm in training mode subtracts the batch mean, so only the second result shows a wrong offset before it.
        line = self.line_norm(self.line(start.flatten(2))).mean(2)
        return self.last(self.upwards(self.instance(self.seventh(x)))).mean((2, 3)) + line, start.mean((2, 3))


def pair() -> nn.Module:
    """A convolution and its norm, in torch's default dtype."""
    return lived(nn.Sequential(nn.Conv2d(3, 3, 2), nn.BatchNorm2d(3)))


def in_float64() -> tuple[Tensor, ...]:
    return tuple(tensor.double() for tensor in images()())


USAGE = Usage(
    "edit",
    cases=(
        Case("the network of the project", ResNet, in_float64),
        Case("layers, values and weights that are shared", Shared, in_float64, unseen=True, given=with_two_names),
        Case("groups, other settings, and norms that stay", Settings, in_float64, unseen=True),
        Case("one pair in float32", pair, lambda: images()()[:1], unseen=True),
    ),
)
