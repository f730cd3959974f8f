"""What the cases of chapter 05 share: the classifier of the chapter, and a record of everything that a call does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

# torch's other front ends need these imports, which take most of an answer's time limit.
import torch._dynamo
import torch.export._trace
from torch import Tensor, nn

from fxbook.cases import Case
from fxbook.cases.running import reporting


def unsure(scores: Tensor) -> Tensor:
    """Whether the mean confidence over a batch is below one half."""
    return scores.softmax(dim=-1).amax(dim=-1).mean() < 0.5


class Sharpen(nn.Module):
    """Multiplies scores by 1.5 while the batch is unsure, at most four times; or exactly ``times`` times if given."""

    def forward(self, scores: Tensor, times: int | None = None) -> Tensor:
        if times is not None:
            for _ in range(times):
                scores = scores * 1.5
            return scores
        for _ in range(4):
            if not unsure(scores):
                break
            scores = scores * 1.5
        return scores


class Classifier(nn.Module):
    """The classifier of the chapter; the spread of the input decides how many rounds it needs."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.body = nn.Linear(4, width)
        self.head = nn.Linear(width, 3)
        self.sharpen = Sharpen()
        with torch.no_grad():
            self.body.bias.zero_()
            self.head.bias.zero_()
            self.head.weight.div_(self.head(torch.relu(self.body(torch.randn(256, 4)))).std())

    def forward(self, x: Tensor, times: int | None = None) -> Tensor:
        return self.sharpen(self.head(torch.relu(self.body(x))), times)


class HalfSure(Classifier):
    """Gives two of three classes the same score for any batch, so the mean confidence is exactly one half."""

    def __init__(self) -> None:
        super().__init__()
        with torch.no_grad():
            self.head.weight.zero_()
            self.head.bias.copy_(torch.tensor([0.0, 0.0, -200.0]))


def spread(size: float, rows: int = 64) -> Callable[[], tuple[Tensor, ...]]:
    """Random rows whose scores have about this spread; the smaller it is, the more rounds the classifier takes."""
    return lambda: (size * torch.randn(rows, 4),)


def unlike_batches() -> tuple[Tensor, ...]:
    """Random rows that are sure at once in only one of a case's two draws, whose seeds are consecutive.

    A number of rounds that is kept from the first batch is then wrong for the second.
    """
    return spread(3.0 if torch.initial_seed() % 2 else 0.2, rows=48)()


BATCHES = (
    Case("a batch that is sure at once", Classifier, spread(3.0)),
    Case("a batch that needs a few rounds", Classifier, spread(0.3)),
    Case("a batch that is never sure", Classifier, spread(0.01)),
    Case("a batch that is sure by a hair", HalfSure, spread(1.0)),
    Case("a batch of sequences", Classifier, lambda: (0.3 * torch.randn(4, 12, 4),)),
    Case("two dissimilar batches", lambda: Classifier(32), unlike_batches, unseen=True),
)


# ---- what a call does: the result, the batch afterwards, the gradients -----------------------------------------------


def behaviour(call: Callable[..., Any], model: nn.Module, x: Tensor) -> dict[str, Any]:
    """What a call returns, its batch afterwards, and the gradients of the batch and of the model's weights.

    Args:
        call: ``model`` itself, or a module that shares its parameters.
        model: the module whose parameters' gradients are taken.
        x: the batch, which is left unchanged.
    """
    weights = dict(model.named_parameters())
    with torch.enable_grad():
        leaf = x.clone().requires_grad_()
        # The passed tensor is not a leaf, so that in-place work on it shows in its value, not as an error.
        batch = leaf + 0
        result = call(batch)
        gradients: tuple[Tensor | None, ...] = (None,) * (1 + len(weights))
        if isinstance(result, Tensor) and result.requires_grad:
            # A different weight for every element, so that no two gradients cancel.
            loss = (result * torch.linspace(1.0, 2.0, result.numel()).view_as(result)).sum()
            gradients = torch.autograd.grad(loss, [leaf, *weights.values()], allow_unused=True)
    return {"result": result, "batch": batch, "gradients": dict(zip(["x", *weights], gradients, strict=True))}


def watched(result: Any, model: nn.Module) -> Any:
    """The result of an answer; a GraphModule is changed so that a run reports everything that it does."""
    return reporting(result, lambda forward, x: behaviour(forward, model, x))


def made_and_watched(answer: Callable[..., Any], model: nn.Module) -> Any:
    return watched(answer(model), model)
