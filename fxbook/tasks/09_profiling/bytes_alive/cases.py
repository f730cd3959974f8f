"""Models with views, operations in place, tuples and weights: whose memory is whose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.asking import Case, Usage

from ..cases import ResNet, images, with_images


class Views(nn.Module):
    """Views, an operation in place, a tuple of two results, a weight and a view of one, a value kept for the end."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 12)
        self.scale = nn.Parameter(torch.randn(12))
        self.mix = nn.Parameter(torch.randn(4, 4))

    def forward(self, x: Tensor) -> Tensor:
        left, middle, right = (self.project(x) * self.scale).split(4, dim=-1)
        flat = nn.functional.relu(left + middle @ self.mix.t(), inplace=True).reshape(-1, 2)
        largest, places = torch.topk(x, 4)
        return torch.cat([flat.reshape(-1, 4), right, largest, places.float()], dim=0)


def with_rows(model: nn.Module) -> tuple[Any, ...]:
    """The traced model, and rows."""
    return fx.symbolic_trace(model), torch.randn(6, 8)


def explaining(answer: Callable[..., Any], traced: fx.GraphModule, *inputs: Any) -> Any:
    """What the answer returns; a message of torch that does not say what is wrong is told with its reason.

    Raises:
        Exception: whatever the answer raises.
    """
    try:
        return answer(traced, *inputs)
    except RuntimeError as error:
        if "Boolean value of Tensor" in str(error):
            why = "a set compares what it holds, and tensors by each element; a storage is compared as one object"
            error.args = (f"{str(error).splitlines()[0]} ({why})",)
        raise


USAGE = Usage(
    "compute",
    cases=(
        Case("the network of the chapter", ResNet, images, given=with_images),
        Case("views, a tuple and weights", Views, tuple, unseen=True, given=with_rows),
    ),
    call=explaining,
)
