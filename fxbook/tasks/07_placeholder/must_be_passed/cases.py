"""Signatures of several kinds."""

# No `from __future__ import annotations`: it would make the annotations in the graphs strings.
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage, traced

from ..cases import Reserved, Unread, Weighting, with_late_input


class Private(nn.Module):
    """Names that begin like the name of a starred parameter's node; one input has no users, and may be ``None``."""

    def forward(
        self, _rows: Tensor, _unread: dict[str, Any] | None, input: Any, *_more: Any, scale: float = 1.0
    ) -> Tensor:
        return _rows * input * scale


class Falsy(nn.Module):
    """Defaults that count as false, of several types; an input without an annotation; and a node without arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(()))

    def forward(
        self, rows: Tensor, scale, shift: float = 0.0, times: int = 0, flag: bool = False, name: str = ""
    ) -> Tensor:
        return rows * scale * self.gain + shift


class Starred(nn.Module):
    """Starred parameters, after one called ``args_1``, which could also name the node of a starred parameter."""

    def forward(self, args_1: Tensor, *others: Tensor, **options: Any) -> Tensor:
        return args_1


USAGE = Usage(
    "compute",
    cases=(
        Case("the model of the chapter", Weighting, tuple),
        Case("starred parameters", Starred, tuple, unseen=True),
        Case("parameters with the names of builtins", Reserved, tuple, unseen=True),
        Case("parameters that begin with `_`", Private, tuple, unseen=True),
        Case("defaults that count as false", Falsy, tuple, unseen=True),
        Case("an input that comes after a step", Unread, tuple, unseen=True, given=with_late_input(1)),
    ),
    given=traced,
)
