"""Networks with folded norms, some of whose activations may work in place."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import CleanBlock, functional, images, with_two_names


class ResNet(nn.Module):
    """The network of the project, with its norms folded."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.blocks = nn.Sequential(CleanBlock(4, 4, norms=False), CleanBlock(4, 6, 2, norms=False))
        self.head = nn.Linear(6, 3)
        self.eval()

    def forward(self, images: Tensor, mean: Tensor, std: Tensor | float = 1.0) -> Tensor:
        x = self.blocks(functional.relu(self.stem((images - mean) / std)))
        return self.head(x.mean((2, 3)))


class BeforeActivation(nn.Module):
    """One activation layer, and calls to the function, on: an input, values that are used again or returned, a view, a
    value that was viewed before, a parameter, the sum from a method, a difference, and values of other layers. Also two
    activations that already work in place, similar functions and layers, and a dead node.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2, self.norm = nn.Conv2d(3, 4, 1), nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4)
        self.act, self.same, self.head = nn.ReLU(), nn.Identity(), nn.Linear(4, 4)
        self.ready, self.leaky = nn.ReLU(inplace=True), nn.LeakyReLU()
        self.scale = nn.Parameter(torch.randn(4, 1, 1))
        self.up, self.instance = nn.ConvTranspose2d(4, 4, 1), nn.InstanceNorm2d(4, track_running_stats=True)
        self.eval()

    def forward(self, images: Tensor, mean: Tensor, std: Tensor) -> dict[str, Tensor]:
        start = self.act(images)
        torch.exp(mean)
        x = self.conv1(start - functional.relu(mean))
        x = x + self.conv2(self.act(x)) * functional.relu(self.scale)
        kept = self.norm(x)
        view = self.conv2(kept).flatten(1)
        early = self.conv2(x)
        rows = early.flatten(1)
        shown = self.conv2(x)
        pooled = self.head(self.act(self.conv2(functional.relu(kept))).mean((2, 3)))
        return {
            "ready": self.ready(self.conv2(x)),
            "kept": kept,
            "start": functional.relu(start / std),
            "view": self.act(view),
            "same": functional.relu(self.same(start)),
            "scores": functional.relu(pooled),
            "normed": self.act(input=self.norm(x)),
            "added": functional.relu(torch.add(x, kept)),
            "done": functional.relu(x * 2, inplace=True),
            "sigmoid": torch.sigmoid(self.conv2(x)),
            "others": (torch.relu(self.conv2(x)), functional.relu6(self.conv2(x)), self.leaky(self.conv2(x))),
            "method": functional.relu(x.add(1)),
            "near": (
                self.act(self.up(x)),
                self.act(self.instance(x)),
                functional.relu(x - 1),
                self.act(torch.sub(x, 1)),
            ),
            "early": functional.relu(early),
            "rows": rows,
            "shown": (self.act(shown), shown),
        }


class OneLayer(nn.Module):
    """One activation layer under two names; its first call is unsafe, the others are safe."""

    def __init__(self) -> None:
        super().__init__()
        self.act = nn.ReLU()
        self.again = self.act
        self.conv, self.last = nn.Conv2d(3, 3, 1), nn.Linear(3, 3)
        self.eval()

    def forward(self, images: Tensor, mean: Tensor, std: Tensor) -> tuple[Tensor, Tensor]:
        x = self.act(images)
        x = self.again(self.conv(x)) + self.act(self.conv(x) + mean)
        return self.again(self.last(x.mean((2, 3)))), self.again(self.conv(x))


USAGE = Usage(
    "edit",
    cases=(
        Case("the network of the project", ResNet, images()),
        Case("activations before convolutions", BeforeActivation, images(), unseen=True),
        Case("one activation for all, under two names", OneLayer, images(), unseen=True, given=with_two_names),
    ),
)
