"""The models on which the answers of chapter 03 are tried, each with what its exercises ask of it in eager terms."""

from __future__ import annotations

import torch
from torch import Tensor, nn

# ---- dropout ---------------------------------------------------------------------------------------------------------


class Regular(nn.Module):
    """An MLP with dropout after each layer."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Sequential(nn.Linear(8, 3), nn.Dropout(0.2))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.drop(torch.relu(self.hidden(x))))


class Dropping(nn.Module):
    """One dropout called often, two in a row, one on an input, one that is read by three and returned, one whose input
    does not stand directly above it; a dropout of whole rows and an identity, which stay.
    """

    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.block = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1), nn.Dropout(0.1), nn.LayerNorm(4))
        self.left = nn.Linear(4, 4)
        self.right = nn.Sequential(nn.Linear(4, 4), nn.Identity())
        self.rows = nn.Dropout1d(0.5)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        start = self.drop(x)
        hidden = self.drop(self.block(start))
        left, right = self.left(hidden), self.right(hidden)
        mixed = self.drop(left) + right
        joined = torch.cat([hidden, start, hidden * hidden], dim=-1)
        return {"hidden": hidden, "joined": joined, "rows": self.rows(mixed)}


# ---- pooling ---------------------------------------------------------------------------------------------------------


class ChannelAttention(nn.Module):
    """The model of the chapter."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.act = nn.ReLU()
        self.gate = nn.Conv2d(4, 4, 1)

    def forward(self, image: Tensor) -> Tensor:
        features = self.act(self.conv(image))
        pooled = nn.functional.adaptive_avg_pool2d(features, 1)
        return features * torch.sigmoid(self.gate(pooled))


class Pyramid(nn.Module):
    """Pools of three sizes beside submodules that have the obvious names, one of them called after the function."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = nn.MaxPool2d(2)
        self.pool_0 = nn.Conv2d(1, 2, 3, padding=1)
        self.pool_1 = nn.Conv2d(2, 2, 1)
        self.adaptive_avg_pool2d = nn.Tanh()

    def forward(self, image: Tensor) -> Tensor:
        image = self.pool_1(self.pool_0(self.pool(image)))
        coarse = self.adaptive_avg_pool2d(nn.functional.adaptive_avg_pool2d(image, 1))
        middle = nn.functional.adaptive_avg_pool2d(image, output_size=(2, 1))
        fine = nn.functional.adaptive_avg_pool2d(image, (None, 2))
        return torch.cat([part.flatten(1) for part in (coarse, middle, fine)], dim=1)


# ---- relu and max-pool -----------------------------------------------------------------------------------------------


class Convolutional(nn.Module):
    """The usual order: convolution, ReLU, pool. Some of what is pooled is below zero, so that the ReLU matters."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        nn.init.constant_(self.conv.bias, -1.0)  # type: ignore[arg-type]
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2)

    def forward(self, image: Tensor) -> Tensor:
        return self.pool(self.relu(self.conv(image)))


class Swappable(nn.Module):
    """Pairs to swap: with shared modules, behind an input, in two branches side by side, behind a value that is read
    elsewhere too. To leave: a ReLU with two readers, a pool that reads a convolution.
    """

    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2)
        self.body = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.left = nn.Conv2d(2, 2, 1)
        self.right = nn.Conv2d(2, 2, 1)
        self.mix = nn.Conv2d(2, 2, 1)

    def forward(self, image: Tensor) -> tuple[Tensor, ...]:
        small = self.pool(self.relu(image))
        features = self.body(small)
        left, right = self.left(features), self.right(features)
        first, second = self.relu(left), self.relu(right)
        both = self.pool(first) - self.pool(second)
        active = self.relu(self.mix(features))
        return both + left.mean(), self.pool(active) + active.mean(), self.pool(self.mix(features)), features * features


# ---- multiply and add ------------------------------------------------------------------------------------------------


class Affine(nn.Module):
    """Scales and shifts, with parameters of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.randn(4))
        self.shift = nn.Parameter(torch.randn(4))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale + self.shift


class Products(nn.Module):
    """Sums in both orders, of two products, of a product and itself, of a square; products read elsewhere too, or of a
    number, or added to one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        first = self.mix(x) + x * y
        shared = first * y
        second = shared + x
        doubled = x * x
        third = (doubled + doubled) * 2.0 + second
        return third * shared + first * first, 2.0 * second + y, y * y + third, x * y + 1.0


# ---- dead code -------------------------------------------------------------------------------------------------------


class Working(nn.Module):
    """Dead branches beside methods and functions that work in place."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(4, 4)
        self.auxiliary = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.hidden(x)
        self.auxiliary(hidden).softmax(dim=-1)
        hidden.mul_(2.0)
        hidden.sigmoid().neg()
        torch.tanh_(hidden)
        return hidden


class Effects(nn.Module):
    """Effects by name, by keyword, of modules; dead nodes that have such a name, attribute or layer and no effect."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.rows_norm = nn.InstanceNorm1d(3, track_running_stats=True)
        self.stateless_norm = nn.BatchNorm1d(4, track_running_stats=False)
        self.spare_norm = nn.LayerNorm(4)
        self.rectify = nn.ReLU(inplace=True)
        self.plain = nn.ReLU()

    def forward(self, x: Tensor, unused: Tensor) -> tuple[Tensor, ...]:
        self.norm(x)
        self.rows_norm(x)
        self.plain(self.spare_norm(self.stateless_norm(x)))
        hidden = x * 2.0
        nn.functional.leaky_relu(hidden, 0.3, inplace=True)
        torch.mul(hidden, 1.5, out=hidden)
        nn.functional.leaky_relu(hidden, 0.7)
        hidden.add_(1.0)
        hidden.add_(x)
        (x > 0.0) & (x < 1.0) | (x > 2.0)
        hidden.__reversed__()
        other = hidden - 1.0
        self.rectify(other)
        torch.rand_like(other)
        noisy = hidden + other + torch.rand_like(other)
        return noisy, self.norm.running_mean + x, self.rows_norm.running_mean
