"""Exported programs with one or more results: some have other users, are inputs, or are returned twice."""

from __future__ import annotations

import contextlib
import functools
import io
import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import seeded
from fxbook.graph.naming import callable_name

from ..cases import WIDTH, FeedForward, part_of_llama


class Heads(nn.Module):
    """Two results; the second is computed from the first."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(WIDTH, 2 * WIDTH)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        hidden = torch.tanh(self.up(x))
        return hidden, hidden.sum(dim=1) + 1


class Counting(nn.Module):
    """Writes to a buffer and to an input on each call, and returns the new value of the buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.ones(WIDTH))

    def forward(self, x: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        self.total.add_(x.sum(dim=0))
        seen.add_(x)
        return x * self.total, self.total


class Twice(nn.Module):
    """Returns one value twice."""

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        opened = torch.sigmoid(x)
        return {"first": opened, "other": x - 1, "again": opened}


class Through(nn.Module):
    """Returns an input unchanged."""

    def forward(self, x: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
        return kept, torch.exp(x) + kept


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Ignore torch's warnings about its own deprecated calls and, in 2.9 to 2.12, about how it loads a program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.filterwarnings("ignore", "The given buffer is not writable")
        yield


@functools.cache
def _saved(make: Callable[[], nn.Module], shapes: tuple[tuple[int, ...], ...], is_functional: bool) -> bytes:
    """The saved program of a model, because loading one is faster than exporting it."""
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
    """Pass the program, a random factor, and inputs."""

    def given(_: nn.Module) -> tuple[Any, ...]:
        with _without_warnings():
            program = torch.export.load(io.BytesIO(_saved(make, shapes, is_functional)))
        factor = float(torch.randint(2, 9, ())) / 4
        return program, factor if factor != 1 else 3.0, tuple(torch.randn(shape) for shape in shapes)

    return given


def run_program(program: ExportedProgram, inputs: tuple[Tensor, ...]) -> dict[str, Any]:
    """The results of a program, and its buffers and inputs after the run."""
    inputs = tuple(value.clone() for value in inputs)
    with torch.no_grad():
        results = pytree.tree_leaves(program.module()(*inputs))
    buffers = {name: buffer.clone() for name, buffer in program.named_buffers()}
    return {"results": results, "buffers": buffers, "inputs": inputs}


def saved_and_run(
    answer: Callable[..., Any], program: ExportedProgram, factor: float, inputs: tuple[Tensor, ...]
) -> Any:
    """The results and buffers of the edited program, saved and loaded again; or why that is impossible."""
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
        why = next(_faults(edited), f"torch raises {type(error).__name__}: {str(error).splitlines()[0].rstrip('. ')}")
        return {"raised": why}
    return run_program(loaded, inputs)


def _faults(program: ExportedProgram) -> Iterator[str]:
    """What is wrong with the graph or the signature, with node names, because a report does not show this graph."""
    signature, met = program.graph_signature, set[fx.Node]()
    for node in program.graph.nodes:
        for used in node.all_input_nodes:
            if used is node:
                yield f"node `{node.name}` uses its own result"
            if used not in met:
                yield f"node `{node.name}` uses `{used.name}` before it is defined"
        name = callable_name(node.target) if node.op == "call_function" else ""
        if node.op in ("call_method", "call_module"):
            yield f"node `{node.name}` is a `{node.op}`, but an exported program calls only ATen operators"
        if isinstance(node.target, torch._ops.OpOverloadPacket):
            yield f"node `{node.name}` calls `{name}`, which has several overloads, and does not say which one"
        is_operator = isinstance(node.target, torch._ops.OperatorBase) or node.target is operator.getitem
        if node.op == "call_function" and not is_operator:
            yield f"node `{node.name}` calls `{name}`, which is not an ATen operator"
        if node.op == "call_function" and "val" not in node.meta:
            yield f'node `{node.name}` has no `meta["val"]`'
        met.add(node)
    inputs, outputs = program.graph.find_nodes(op="placeholder"), program.graph.output_node().args[0]
    if not isinstance(outputs, tuple | list):
        yield "the first argument of node `output` should be a tuple of all outputs"
        return
    for kind, nodes, specs in (("input", inputs, signature.input_specs), ("output", outputs, signature.output_specs)):
        for place, (node, spec) in enumerate(zip(nodes, specs, strict=False)):
            if node.name != spec.arg.name:
                yield f"{kind} {place} is node `{node.name}`, but the signature names `{spec.arg.name}`"


def _case(name: str, *program: Any, unseen: bool = True, is_functional: bool = False) -> Case:
    return Case(name, nn.Identity, tuple, unseen=unseen, given=program_of(*program, is_functional=is_functional))


USAGE = Usage(
    "compute",
    cases=(
        _case("the model of the exercise", lambda: FeedForward().eval(), (2, WIDTH), unseen=False),
        _case("two results, one computed from the other", Heads, (2, WIDTH), unseen=False),
        _case("a value returned twice", Twice, (2, WIDTH)),
        _case("an input that is returned", Through, (2, WIDTH), (2, 1)),
        _case("a buffer and an input that are written", Counting, (2, WIDTH), (2, WIDTH), is_functional=True),
        _case("a block from Llama", part_of_llama, (2, 32)),
    ),
    call=saved_and_run,
)
