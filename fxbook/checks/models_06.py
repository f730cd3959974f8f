"""The models on which the answers of chapter 06 are tried, each with what its exercises ask of it in eager terms.

The models of "Tell a difference", each with what a pass made of it, stand in :mod:`fxbook.checks.pairs_06`.
"""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

functional = nn.functional


class Sums(nn.Module):
    """Sums over one dimension, over several and over all, in every spelling, and a softmax, which is no sum."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return self.summed(x, keepdim=False)

    def summed(self, x: Tensor, keepdim: bool) -> tuple[Tensor, ...]:
        """``forward``, with this ``keepdim`` in every sum that has a dimension."""
        if keepdim:
            return (
                torch.sum(x, 0, keepdim=True),
                torch.sum(x, dim=1, keepdim=True),
                x.sum(1, keepdim=True),
                x.sum(dim=-1, keepdim=True),
                torch.sum(x),
                functional.softmax(x, dim=1),
            )
        return torch.sum(x, 0), torch.sum(x, dim=1), x.sum(1), x.sum(dim=-1), torch.sum(x), functional.softmax(x, dim=1)


class MoreSums(nn.Module):
    """Every spelling of the arguments, a ``dim`` that is ``None``, and calls that are named like a sum and are none."""

    def __init__(self) -> None:
        super().__init__()
        self.sum = nn.Sequential(nn.Linear(4, 4))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        x = self.sum(x)
        return (
            torch.sum(x, 1, False),
            x.sum(-1, False),
            torch.sum(x, dim=(0, 1), keepdim=False),
            torch.sum(x, keepdim=True, dim=0),
            torch.sum(input=x, dim=1),
            torch.sum(x, (0, 1), dtype=torch.float64),
            x.sum(keepdim=False, dim=[0]),
            x.sum(),
            x.sum(dtype=torch.float64),
            x.sum(dim=None),
            torch.sum(x, None, False),
            *self._others(x),
        )

    def summed(self, x: Tensor, keepdim: bool) -> tuple[Tensor, ...]:
        """``forward``, with this ``keepdim`` in every sum that has a dimension."""
        x = self.sum(x)
        return (
            x.sum(1, keepdim=keepdim),
            x.sum(-1, keepdim=keepdim),
            x.sum((0, 1), keepdim=keepdim),
            x.sum(0, keepdim=keepdim),
            x.sum(1, keepdim=keepdim),
            x.sum((0, 1), keepdim=keepdim, dtype=torch.float64),
            x.sum(0, keepdim=keepdim),
            x.sum(),
            x.sum(dtype=torch.float64),
            x.sum(),
            x.sum(),
            *self._others(x),
        )

    def _others(self, x: Tensor) -> tuple[Tensor, ...]:
        return x.mean(1), torch.cumsum(x, dim=0), x.logsumexp(dim=1), torch.nansum(x, dim=0)


def scaled(x: Tensor, factor: float = 2.0, *, shift: float = 0.0) -> Tensor:
    """A function of one's own, kept one node when a model of this file is traced."""
    return x * factor + shift


fx.wrap("scaled")


class Activations(nn.Module):
    """Functions of ``nn.functional`` with every optional argument at its default, and with some that are not."""

    def forward(self, x: Tensor) -> Tensor:
        hidden = functional.leaky_relu(functional.relu(x) - 1, 0.2)
        return functional.dropout(functional.softmax(hidden, -1), 0.25)


class Defaults(nn.Module):
    """Defaults of functions of all kinds, of a method and a layer, by position; values that only look like defaults."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 4)
        self.widen = nn.ConvTranspose1d(3, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        hidden = functional.layer_norm(self.project(x), (4,), eps=0.1)
        hidden = functional.elu(hidden, alpha=0.5) + functional.hardtanh(hidden, -2.0, 1.0)
        hidden = scaled(hidden, factor=2, shift=1.0) - scaled(hidden, factor=3.0, shift=0.0)
        hidden = self.widen(hidden[None], output_size=None)[0] + scaled(hidden, 2.0, shift=0.5)
        hidden = torch.sum(hidden, dim=-1, keepdim=False) + hidden.sum(dim=-1, keepdim=False)
        return functional.max_pool1d(hidden[None], 2, padding=1) * functional.dropout(hidden[0], p=0.5, training=False)


class Joining(nn.Module):
    """Concatenations of a list, of a tuple and by name; a stack, which is none."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        half = x * 0.5
        return torch.cat([half, half]), torch.cat((half, x), 1), torch.stack([half, half])

    def joined(self, x: Tensor) -> tuple[Tensor, ...]:
        half = x * 0.5
        return torch.cat([half, half, x]), torch.cat((half, x, x), 1), torch.stack([half, half])


class JoiningMore(nn.Module):
    """Two inputs under other names; the tensors by name, a concatenation of one, the first input read by none."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 4)

    def forward(self, image: Tensor, extra: Tensor) -> tuple[Tensor, ...]:
        first = torch.cat(tensors=[extra, self.project(image)], dim=0)
        return (
            torch.cat(dim=0, tensors=(first, extra)),
            torch.cat([torch.cat([extra])]),
            torch.cat([extra, extra], dim=0),
        )

    def joined(self, image: Tensor, extra: Tensor) -> tuple[Tensor, ...]:
        first = torch.cat([extra, self.project(image), image])
        return torch.cat([first, extra, image]), torch.cat([extra, image, image]), torch.cat([extra, extra, image])


# ---- models with activations that may work in place, and some that may not -------------------------------------------


class Block(nn.Module):
    """The block of the exercises."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(4, 4), nn.Linear(4, 4)
        self.act = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.sigmoid(self.act(x))
        hidden = self.down(self.act(self.up(x)))
        return functional.hardtanh(gate, -0.5, 0.5) * (hidden + x).relu()


class Aliased(nn.Module):
    """Views, a value that is returned too, one that is read twice, a parameter, a value made in place before."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.randn(4))
        self.act = nn.SiLU()

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        hidden = self.project(x)
        first = functional.relu(hidden[0]) + functional.relu(self.scale)
        returned = x * 2
        twice = x - 1
        flat = self.project(first).view(-1)
        done = functional.leaky_relu(x + 1, 0.3, inplace=True).tanh()
        return hidden, first, returned, functional.elu(returned), twice * self.act(twice), flat.relu(), done


class Called(nn.Module):
    """Layers called by their own name at a safe place first; layers that return what they are given, or a view."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 4)
        self.act, self.gate = nn.ReLU(), nn.Hardtanh(-0.5, 0.5)
        self.same, self.flat = nn.Identity(), nn.Flatten(0)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        safe = self.act(self.project(x)), functional.tanh(x * 3), (x + 2).sigmoid()
        return *safe, self.act(x), self.gate(self.same(x)), functional.elu(self.flat(x)), x.view(-1).relu()


class NoMakers(nn.Module):
    """Values that other calls made, calls that are no activations, and one in place on a value that is read again."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        hidden = self.project(x)
        opened = functional.relu(hidden, inplace=True)
        made = torch.add(x, 1).relu(), functional.silu(x.add(1)), functional.elu(x / 2), (-x).tanh()
        return *made, functional.celu(self.norm(x)), (x - 1).abs(), torch.relu(x * 2), opened * hidden


class Vision(nn.Module):
    """Submodules of submodules, one layer called at a safe and at an unsafe place, the value by name, dropout."""

    def __init__(self) -> None:
        super().__init__()
        layers = {"conv": nn.Conv2d(2, 2, 1), "norm": nn.LayerNorm([2, 4, 4]), "act": nn.LeakyReLU(0.3)}
        self.body = nn.ModuleDict(layers)
        self.drop = nn.Dropout(0.4)
        self.cap = nn.ReLU6()

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.body["act"](input=self.body["conv"](image))
        hidden = self.drop(self.body["norm"](hidden))
        skip = self.body["act"](hidden)
        matched = functional.celu(hidden @ skip, alpha=0.7) - image
        return self.cap(matched).sigmoid(), functional.dropout(self.body["norm"](skip), 0.3).tanh()


class RandomGraph(nn.Module):
    """Steps drawn at random when it is made: makers of new values, views, values that are kept, activations."""

    def __init__(self, length: int = 14) -> None:
        super().__init__()
        self.steps = torch.randint(1000, (length, 3)).tolist()
        self.project, self.norm = nn.Linear(4, 4), nn.LayerNorm(4)
        self.relu, self.silu = nn.ReLU(), nn.SiLU()
        self.scale = nn.Parameter(torch.randn(3, 4))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        values, unread = [self.scale, x], set()
        for kind, *picks in self.steps:
            # Mostly the newest value, so that many values have one reader, and some have more.
            first, second = (max(0, len(values) - 1 - (0, 0, 0, 0, 1, 2)[pick % 6]) for pick in picks)
            value, used = self._step(kind % 14, values[first], values[second])
            unread -= {first, second} if used == 2 else {first}
            unread.add(len(values))
            values.append(value)
        return tuple(values[place] for place in sorted(unread))

    def _step(self, kind: int, first: Tensor, second: Tensor) -> tuple[Tensor, int]:
        """The value of a step, and how many of the two it reads."""
        match kind:
            case 0 | 1 | 2:
                return (self.project, self.norm, self.project)[kind](first), 1
            case 3 | 4 | 5:
                return (first + second, first - second, first * second)[kind - 3], 2
            case 6:
                return torch.sigmoid(first), 1
            case 7:
                return first[:], 1
            case 8:
                return functional.relu(first), 1
            case 9:
                return functional.hardtanh(first, -1.5, 0.5), 1
            case 10 | 11:
                return (self.relu, self.silu)[kind - 10](first), 1
            case _:
                return (first.relu(), first.tanh())[kind - 12], 1
