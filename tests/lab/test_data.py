"""Graphs that the lab would show or compute differently from torch are rejected, with advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import fx, nn

from fxbook.lab.lab import Lab

ONES = {"x": torch.ones(3)}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.drop = nn.Conv1d(1, 1, 1), nn.Dropout()
        self.act, self.gelu, self.hooked = nn.ReLU(inplace=True), nn.GELU("tanh"), nn.Tanh()
        self.hooked.register_forward_hook(lambda *_: None)


REJECTED: list[tuple[Callable[..., Any], str]] = [
    (lambda self, x: x.view(-1), "does not know `view`"),
    (lambda self, x: self.conv(x), "does not know `conv`"),
    (lambda self, x: self.drop(x), "Dropout in eval mode"),
    (lambda self, x: self.act(x), "ReLU not in place"),
    (lambda self, x: self.gelu(x), "does not know `gelu`"),
    (lambda self, x: self.hooked(x), "no layer with hooks"),
    (lambda self, x: torch.softmax(x, 0), "does not know `torch.softmax`"),
    (lambda self, x: x + float("inf"), "the argument inf"),
    (lambda self, x: x * 2**60, "the argument 1152921504606846976"),
    (lambda self, x: x[0:2], "the argument slice"),
    (lambda self, x: torch._assert(x, "it's x"), "the argument it's x"),
    (lambda self, x, y: x + y, "give a tensor for it in `inputs`"),
]


@pytest.mark.parametrize(("forward", "says"), REJECTED)
def test_what_a_lab_cannot_show_is_rejected(forward: Callable[..., Any], says: str) -> None:
    traced = fx.symbolic_trace(type("Model", (Model,), {"forward": forward})())
    with pytest.raises(ValueError, match=says):
        Lab(traced, ONES)


def test_other_mistakes_are_told() -> None:
    with pytest.raises(TypeError, match="trace the model first"):
        Lab(nn.ReLU(), ONES)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="finite real numbers"):
        Lab(fx.symbolic_trace(nn.ReLU()), {"input": torch.tensor([torch.nan])})
    with pytest.raises(ValueError, match="there is no puzzle 'nope': choose from another-function"):
        Lab.puzzles("nope")
