"""Models with activations that may work in place, and with activations that may not."""

from __future__ import annotations

import operator
import re
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.running import reporting

from ..cases import behaviour, rows

functional = nn.functional


class Block(nn.Module):
    """The block that the opening of the exercises defines."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(4, 4), nn.Linear(4, 4)
        self.act = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.sigmoid(self.act(x))
        hidden = self.down(self.act(self.up(x)))
        return functional.hardtanh(gate, -0.5, 0.5) * (hidden + x).relu()


class Aliased(nn.Module):
    """Views; a value that is also returned; a value that is used twice; a parameter; the result of an in-place call."""

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
    """A layer that is called first in a safe place, then in an unsafe one; layers that return their input or a view of
    it; layers named like methods; a method called twice; a function that is a maker.
    """

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 4)
        self.act, self.gate = nn.ReLU(), nn.Hardtanh(-0.5, 0.5)
        self.same, self.flat = nn.Identity(), nn.Flatten(0)
        self.relu, self.tanh = nn.ReLU6(), nn.Softmax(-1)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        safe = self.act(self.project(x)), functional.tanh(x * 3), (x + 2).sigmoid()
        unsafe = self.act(x), self.gate(self.same(x)), functional.elu(self.flat(x)), x.view(-1).relu()
        more = self.relu(x * 5), (x - 2).sigmoid(), functional.linear(x, self.project.weight).relu()
        more += (self.tanh(x * 7),)
        return *safe, *unsafe, *more


class NoMakers(nn.Module):
    """Values that no maker made; calls that are not activations; an in-place call on a value that is used again."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        hidden = self.project(x)
        opened = functional.relu(hidden, inplace=True)
        made = torch.add(x, 1).relu(), functional.silu(x.add(1)), functional.elu(x / 2), (-x).tanh()
        others = (x - 1).abs(), torch.relu(x * 2), functional.softmax(x - 2, -1)
        return *made, functional.celu(self.norm(x)), *others, opened * hidden


class Vision(nn.Module):
    """Nested submodules, two of which share a name and a class, and one of which is called in a safe and an unsafe
    place; a keyword; dropout; an input that only an activation uses.
    """

    def __init__(self) -> None:
        super().__init__()
        layers = {"conv": nn.Conv2d(2, 2, 1), "norm": nn.LayerNorm([2, 4, 4]), "act": nn.LeakyReLU(0.3)}
        self.body = nn.ModuleDict(layers)
        self.drop = nn.Dropout(0.4)
        self.head = nn.ModuleDict({"act": nn.LeakyReLU(0.1)})

    def forward(self, image: Tensor, gate: Tensor) -> tuple[Tensor, ...]:
        hidden = self.body["act"](input=self.body["conv"](image))
        hidden = self.drop(self.body["norm"](hidden))
        skip = self.body["act"](hidden)
        matched = functional.celu(hidden @ skip, alpha=0.7) - image
        last = functional.dropout(self.body["norm"](skip), 0.3).tanh()
        return self.head["act"](matched).sigmoid(), last, functional.silu(gate)


class UsedBefore(nn.Module):
    """Values whose other user comes before the activation; one of these users is dead. None of them keeps the value, so
    overwriting it would do no harm here.
    """

    def __init__(self) -> None:
        super().__init__()
        self.project, self.act = nn.Linear(4, 4), nn.SiLU()

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        hidden, doubled, shifted = self.project(x), x * 2, x + 1
        sums = hidden.sum(), doubled + 1, shifted - 1
        raised = x + 3
        raised.exp()
        return *sums, functional.relu(hidden), doubled.tanh(), self.act(shifted), raised.sigmoid()


class Quiet(nn.Module):
    """In eval mode: a dropout, which drops nothing; layers that already work in place, safely or not; and a default."""

    def __init__(self) -> None:
        super().__init__()
        self.project, self.drop = nn.Linear(4, 4), nn.Dropout(0.9)
        self.done = nn.ReLU6(inplace=True)
        self.eval()

    def forward(self, x: Tensor, shift: float = 3.0) -> tuple[Tensor, ...]:
        hidden = self.drop(self.project(x))
        opened = x - 1
        return hidden, self.done(x * 2), self.done(opened) * opened, (x + shift).relu_()


class RandomGraph(nn.Module):
    """Random steps, chosen when the model is made: makers, views, calls that keep their result, activations."""

    def __init__(self, length: int = 14) -> None:
        super().__init__()
        self.steps = torch.randint(1000, (length, 3)).tolist()
        self.project, self.norm = nn.Linear(4, 4), nn.LayerNorm(4)
        self.relu, self.silu = nn.ReLU(), nn.SiLU()
        self.scale = nn.Parameter(torch.randn(3, 4))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        values, unread = [self.scale, x], set()
        for kind, *picks in self.steps:
            # Mostly the newest value, so that many values have one user, and some have more.
            first, second = (max(0, len(values) - 1 - (0, 0, 0, 0, 1, 2)[pick % 6]) for pick in picks)
            value, used = self._step(kind % 14, values[first], values[second])
            unread -= {first, second} if used == 2 else {first}
            unread.add(len(values))
            values.append(value)
        return tuple(values[place] for place in sorted(unread))

    def _step(self, kind: int, first: Tensor, second: Tensor) -> tuple[Tensor, int]:
        """The value of a step, and how many of the two values it uses."""
        binary = (operator.add, operator.sub, operator.mul)
        if kind < len(binary):
            return binary[kind](first, second), 2
        layers = (self.project, self.norm, self.project, self.relu, self.silu)
        functions = (torch.sigmoid, functional.relu, lambda value: functional.hardtanh(value, -1.5, 0.5))
        methods = (lambda value: value[:], lambda value: value.relu(), lambda value: value.tanh())
        return (*layers, *functions, *methods)[kind - len(binary)](first), 1


# ---- how an answer is used -------------------------------------------------------------------------------------------


def watched(answer: Any, model: nn.Module) -> Any:
    """The module that the answer makes from the model, changed so that a run reports everything that it does.

    It also reports, as ``"settings"``, the settings and the mode of the layer that each node calls, by node name.
    """
    result = answer(model)

    def report(forward: Any, *inputs: Tensor) -> dict[str, Any]:
        module = result.graph_module if type(result).__name__ == "PassResult" else result
        calls = module.graph.find_nodes(op="call_module")
        layers = {node.name: settings(module.get_submodule(node.target)) for node in calls}
        return behaviour(forward, model, *inputs) | {"settings": layers}

    return reporting(result, report)


def settings(layer: nn.Module) -> list[str]:
    """The settings of a layer, except ``inplace``, and its mode."""
    return [re.sub(r"(, )?inplace=\w+", "", layer.extra_repr()), "training" if layer.training else "eval"]


def image_and_gate() -> tuple[Tensor, Tensor]:
    return torch.randn(2, 2, 4, 4), torch.randn(3, 4)


def random_graph(number: int) -> Case:
    return Case(f"random graph {number}", RandomGraph, rows(), unseen=True)


USAGE = Usage(
    "pass",
    cases=(
        Case("the block", Block, rows()),
        Case("views, a parameter, values with other users", Aliased, rows(), unseen=True),
        Case("layers with the names of nodes and methods", Called, rows(), unseen=True),
        Case("values that none of `MAKERS` made", NoMakers, rows(), unseen=True),
        Case("submodules, keywords, dropout", Vision, image_and_gate, unseen=True),
        Case("values that another node uses first", UsedBefore, rows(), unseen=True),
        Case("a model in eval mode", Quiet, rows(), unseen=True),
        *(random_graph(number) for number in (1, 2)),
    ),
    call=watched,
)
