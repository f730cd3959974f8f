"""Shared by the cases of project P1: residual networks, in the states from which the milestones start."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, fx, nn

functional = nn.functional


class Block(nn.Module):
    """The residual block of the project, without the parts that only training needs."""

    def __init__(self, fan_in: int, width: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(fan_in, width, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.act, self.drop, self.skip = nn.ReLU(), nn.Dropout2d(0.1), nn.Identity()
        if stride != 1 or fan_in != width:
            conv = nn.Conv2d(fan_in, width, 1, stride, bias=False)
            self.skip = nn.Sequential(conv, nn.BatchNorm2d(width))

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.act(self.norm1(self.conv1(x)))
        hidden = self.drop(self.norm2(self.conv2(hidden)))
        return self.act(hidden + self.skip(x))


class CleanBlock(nn.Module):
    """The residual block after cleaning: without dropout and identity, with or without norms."""

    def __init__(self, fan_in: int, width: int, stride: int = 1, norms: bool = True) -> None:
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(fan_in, width, 3, stride, padding=1, bias=not norms), None
        self.conv2, self.norm2 = nn.Conv2d(width, width, 3, padding=1, bias=not norms), None
        self.act, self.skip = nn.ReLU(), None
        if stride != 1 or fan_in != width:
            self.skip = nn.Sequential(nn.Conv2d(fan_in, width, 1, stride, bias=not norms))
        if norms:
            self.norm1, self.norm2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
            if self.skip is not None:
                self.skip.append(nn.BatchNorm2d(width))

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.conv1(x)
        hidden = self.act(hidden if self.norm1 is None else self.norm1(hidden))
        hidden = self.conv2(hidden)
        hidden = hidden if self.norm2 is None else self.norm2(hidden)
        return self.act(hidden + (x if self.skip is None else self.skip(x)))


def lived(model: nn.Module) -> nn.Module:
    """The model in eval mode, with random norm statistics such as training produces."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d) and module.running_mean is not None:
            module.running_mean.normal_()
            module.running_var.uniform_(0.3, 2.0)
            if module.affine:
                nn.init.uniform_(module.weight, 0.5, 1.5)
                nn.init.normal_(module.bias)
    return model.eval()


def images(size: int = 6) -> Callable[[], tuple[Tensor, ...]]:
    """A function that makes two small images, and a mean and a standard deviation for each channel."""
    return lambda: (torch.randn(2, 3, size, size), torch.randn(3, 1, 1), torch.rand(3, 1, 1) + 0.5)


def with_two_names(model: nn.Module) -> tuple[fx.GraphModule]:
    """The traced model, in which a layer with two names is called by its second name from its second call on."""
    traced = fx.symbolic_trace(model)
    names: dict[int, list[str]] = {}
    for name, held in model.named_modules(remove_duplicate=False):
        names.setdefault(id(held), []).append(name)
    second = {name: others[1] for others in names.values() for name in others[:1] if len(others) > 1}
    met: set[str] = set()
    for node in traced.graph.find_nodes(op="call_module"):
        if node.target in met and node.target in second:
            traced.add_submodule(second[node.target], traced.get_submodule(node.target))
            node.target = second[node.target]
        met.add(str(node.target))
    traced.recompile()
    return (traced,)
