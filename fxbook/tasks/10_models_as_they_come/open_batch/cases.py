"""Models to be exported with an open batch: one input or two; random batch sizes; and sizes that happen to be equal."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of

# One, a size above that of every example, and a size above the limits that people set to be safe.
OTHER_BATCHES = (1, 9, 1100)
WORDS = 9


class Heads(nn.Module):
    """Reads the batch size, as attention does; has dropout, which runs only in train mode."""

    def __init__(self) -> None:
        super().__init__()
        self.mixed, self.drop = nn.Linear(8, 8), nn.Dropout(0.5)
        self.eval()

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        split = self.drop(self.mixed(x)).view(batch, length, 2, width // 2).transpose(1, 2)
        weights = (split @ split.transpose(2, 3)).softmax(-1)
        return (weights @ split).transpose(1, 2).reshape(batch, length, width)[:, 0, :2]


class Looking(nn.Module):
    """Two inputs that differ in dtype and dimensions, but share a batch size."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.body = nn.Embedding(WORDS, 5), nn.Linear(7, 5)
        self.eval()

    def forward(self, features: Tensor, tokens: Tensor) -> Tensor:
        return (self.body(features).unsqueeze(1) * self.words(tokens)).sum(-1)


class Centred(nn.Module):
    """In train mode, where it has a scale. No weight fixes the second dimension of its input; a second input has only
    the batch dimension.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(()) + 1.5)

    def forward(self, grid: Tensor, shift: Tensor) -> Tensor:
        centred = (grid - grid.mean(1, keepdim=True)).cumsum(1) + shift[:, None]
        return centred * self.scale if self.training else centred


def of_batch(inputs: dict[str, Tensor], batch: int) -> dict[str, Tensor]:
    """Inputs like these with another batch size: the same for each answer."""
    drawn = torch.Generator().manual_seed(batch)
    made = {}
    for name, like in inputs.items():
        shape = (batch, *like.shape[1:])
        if like.is_floating_point():
            made[name] = torch.randn(shape, generator=drawn)
        else:
            made[name] = torch.randint(WORDS, shape, generator=drawn)
    return made


def exported_and_run(answer: Callable[..., Any], model: nn.Module, inputs: dict[str, Tensor]) -> dict[str, Any]:
    """What the program returns for the example and for each other batch: a result, or why it rejects the batch."""
    tried = [dict(inputs), *(of_batch(inputs, batch) for batch in OTHER_BATCHES)]
    program = answer(model, dict(inputs))
    if not isinstance(program, torch.export.ExportedProgram):
        return {"kind": "GraphModule" if isinstance(program, fx.GraphModule) else type(program).__name__}
    module = program.module()
    example, *others = (_told(module, batch) for batch in tried)
    return {"example": example, "others": others, "open": list(_others_open(program))}


def _others_open(program: torch.export.ExportedProgram) -> Iterator[str]:
    """The dynamic dimensions besides the first of each input, in words."""
    for node in program.graph.find_nodes(op="placeholder"):
        if node.name in program.graph_signature.user_inputs:
            for place, size in enumerate(node.meta["val"].shape):
                if place and isinstance(size, torch.SymInt):
                    yield f"Dimension {place} of input `{node.name}`"


def _told(module: nn.Module, inputs: dict[str, Tensor]) -> dict[str, Any]:
    try:
        return {"result": module(**inputs)}
    except Exception as error:
        first = next(iter(str(error).strip().splitlines()), "")
        return {"refused": f"{type(error).__name__}: {first}"}


@functools.cache
def _load() -> None:
    """Have torch load what a process's first export needs: an answer has no time for that."""
    for strict in (False, True):
        torch.export.export(Heads(), (), {"x": torch.zeros(2, 7, 8)}, strict=strict)


def example(draw: Callable[[int], dict[str, Tensor]]) -> Callable[[nn.Module], tuple[Any, ...]]:
    """The model, and inputs with a random batch size."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        inputs = draw(one_of(4, 5, 6))
        # This comes last: it also makes a model, once in a process, and the random numbers must not depend on that.
        _load()
        return model, inputs

    return given


USAGE = Usage(
    "compute",
    cases=(
        Case("a model that reads the batch", Heads, tuple, given=example(lambda n: {"x": torch.randn(n, 7, 8)})),
        Case(
            "two inputs with one batch",
            Looking,
            tuple,
            unseen=True,
            given=example(lambda n: {"features": torch.randn(n, 7), "tokens": torch.randint(WORDS, (n, 2))}),
        ),
        Case(
            "a dimension of the same size",
            Centred,
            tuple,
            unseen=True,
            given=example(lambda n: {"grid": torch.randn(n, n), "shift": torch.randn(n)}),
        ),
    ),
    call=exported_and_run,
)
