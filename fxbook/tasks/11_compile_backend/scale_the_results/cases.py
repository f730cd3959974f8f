"""Exported programs: one result or several, results that are used or returned twice, buffers that are written."""

from __future__ import annotations

import contextlib
import functools
import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import seeded

from ..cases import WIDTH, FeedForward, part_of_llama


class Heads(nn.Module):
    """Two results, of which the second is computed from the first."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(WIDTH, 2 * WIDTH)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        hidden = torch.tanh(self.up(x))
        return hidden, hidden.sum(dim=1) + 1


class Counting(nn.Module):
    """Writes a buffer at each call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.ones(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x.sum(dim=0))
        return x * self.total


class Twice(nn.Module):
    """One value is returned in two places."""

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        opened = torch.sigmoid(x)
        return {"first": opened, "other": x - 1, "again": opened}


class Through(nn.Module):
    """An input is returned as it came."""

    def forward(self, x: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
        return kept, torch.exp(x) + kept


def plain() -> nn.Module:
    """The model of the sheet."""
    return FeedForward().eval()


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """torch warns of its own use of what it deprecates and, from 2.9 to 2.12, of how it reads a saved program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.filterwarnings("ignore", "The given buffer is not writable")
        yield


@functools.cache
def _saved(make: Callable[[], nn.Module], shapes: tuple[tuple[int, ...], ...], is_functional: bool) -> bytes:
    """The program of a model as it is saved: loading is quicker than exporting."""
    with seeded(0):
        program = torch.export.export(make(), tuple(torch.randn(shape) for shape in shapes))
        if is_functional:
            program = program.run_decompositions({})
    file = io.BytesIO()
    torch.export.save(program, file)
    return file.getvalue()


def program_of(
    make: Callable[[], nn.Module], *shapes: tuple[int, ...], is_functional: bool = False
) -> Callable[[nn.Module], tuple[Any, ...]]:
    """The program, a factor that is drawn, and inputs."""

    def given(_: nn.Module) -> tuple[Any, ...]:
        with _without_warnings():
            program = torch.export.load(io.BytesIO(_saved(make, shapes, is_functional)))
        factor = float(torch.randint(2, 9, ())) / 4
        return program, factor if factor != 1 else 3.0, tuple(torch.randn(shape) for shape in shapes)

    return given


def run_program(program: ExportedProgram, inputs: tuple[Tensor, ...]) -> dict[str, Any]:
    """What a program returns, and its buffers after that."""
    with torch.no_grad():
        results = pytree.tree_leaves(program.module()(*inputs))
    return {"results": results, "buffers": {name: buffer.clone() for name, buffer in program.named_buffers()}}


def saved_and_run(
    answer: Callable[..., Any], program: ExportedProgram, factor: float, inputs: tuple[Tensor, ...]
) -> Any:
    """Edit with the answer, save, load, and run what was loaded; in place of that, why it cannot be saved."""
    edited = answer(program, factor)
    edited = program if edited is None or edited is program.graph_module else edited
    if not isinstance(edited, ExportedProgram):
        return {"returned": type(edited).__name__}
    file = io.BytesIO()
    try:
        edited.validate()
        torch.export.save(edited, file)
        file.seek(0)
        loaded = torch.export.load(file)
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
    return run_program(loaded, inputs)


USAGE = Usage(
    "compute",
    cases=(
        Case("the model of the sheet", nn.Identity, tuple, given=program_of(plain, (2, WIDTH))),
        Case("two results, one made of the other", nn.Identity, tuple, given=program_of(Heads, (2, WIDTH))),
        Case(
            "a buffer that is written",
            nn.Identity,
            tuple,
            unseen=True,
            given=program_of(Counting, (2, WIDTH), is_functional=True),
        ),
        Case("a value returned twice", nn.Identity, tuple, unseen=True, given=program_of(Twice, (2, WIDTH))),
        Case(
            "an input that is returned", nn.Identity, tuple, unseen=True, given=program_of(Through, (2, WIDTH), (2, 1))
        ),
        Case("a part of Llama", nn.Identity, tuple, unseen=True, given=program_of(part_of_llama, (2, 32))),
    ),
    call=saved_and_run,
)
