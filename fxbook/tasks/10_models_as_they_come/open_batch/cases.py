"""Models to export for every batch size, with one input or two, examples of random batch sizes, and equal sizes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of

# 1, a size larger than every example's, and a size larger than the limits that people usually set.
OTHER_BATCHES = (1, 9, 1100)
WORDS = 9


class Heads(nn.Module):
    """Reads the batch size, as attention does. Its dropout has an effect only in train mode."""

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
    """Two inputs of different dtypes and dimensions, but the same batch size."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.body = nn.Embedding(WORDS, 5), nn.Linear(7, 5)
        self.eval()

    def forward(self, features: Tensor, tokens: Tensor) -> Tensor:
        return (self.body(features).unsqueeze(1) * self.words(tokens)).sum(-1)


class Centred(nn.Module):
    """Stays in train mode, in which it uses its scale. No weight fixes the second dimension of its first input; the
    second input has only the batch dimension.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(()) + 1.5)

    def forward(self, grid: Tensor, shift: Tensor) -> Tensor:
        centred = (grid - grid.mean(1, keepdim=True)).cumsum(1) + shift[:, None]
        return centred * self.scale if self.training else centred


def of_batch(inputs: dict[str, Tensor], batch: int) -> dict[str, Tensor]:
    """Random inputs like these, but with another batch size; the numbers are the same for every answer."""
    generator = torch.Generator().manual_seed(batch)
    made = {}
    for name, like in inputs.items():
        shape = (batch, *like.shape[1:])
        if like.is_floating_point():
            made[name] = torch.randn(shape, generator=generator)
        else:
            made[name] = torch.randint(WORDS, shape, generator=generator)
    return made


def exported_and_run(answer: Callable[..., Any], model: nn.Module, inputs: dict[str, Tensor]) -> dict[str, Any]:
    """The program's result or error for the example and each other batch size; and its other dynamic dimensions."""
    batches = [dict(inputs), *(of_batch(inputs, batch) for batch in OTHER_BATCHES)]
    program = answer(model, dict(inputs))
    if not isinstance(program, torch.export.ExportedProgram):
        return {"kind": "GraphModule" if isinstance(program, fx.GraphModule) else type(program).__name__}
    module = program.module()
    example, *others = (_run(module, batch) for batch in batches)
    return {"example": example, "others": others, "dynamic": list(_other_dynamic(program))}


def _other_dynamic(program: torch.export.ExportedProgram) -> Iterator[str]:
    """The dynamic dimensions of the inputs, except the first of each, as the beginning of a sentence."""
    for node in program.graph.find_nodes(op="placeholder"):
        if node.name in program.graph_signature.user_inputs:
            for place, size in enumerate(node.meta["val"].shape):
                if place and isinstance(size, torch.SymInt):
                    yield f"Dimension {place} of input `{node.name}`"


def _run(module: nn.Module, inputs: dict[str, Tensor]) -> dict[str, Any]:
    try:
        return {"result": module(**inputs)}
    except Exception as error:
        first = next(iter(str(error).strip().splitlines()), "")
        return {"raised": f"{type(error).__name__}: {first}"}


@functools.cache
def _load() -> None:
    """Load what the first export in a process needs, because this would exceed the time limit of an answer."""
    for strict in (False, True):
        torch.export.export(Heads(), (), {"x": torch.zeros(2, 7, 8)}, strict=strict)


def example(make: Callable[[int], dict[str, Tensor]]) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Pass the model, and inputs with a random batch size."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        inputs = make(one_of(4, 5, 6))
        # Last, because it makes random weights, but only once in a process: the inputs must not depend on that.
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
