"""Put one program through the four front ends that make graphs, and tell what each makes of it."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import fx, nn
from torch.fx.experimental.proxy_tensor import make_fx

_LONGEST = 100
Program = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Recording:
    """What one front end made of a program.

    Attributes:
        graphs: the modules that it recorded: several where `torch.compile` broke the graph, none where it failed.
        error: what it raised while it recorded, or ``None``.
        verdict: ``"right"``, ``"wrong"``, or the error of the run.
    """

    graphs: tuple[fx.GraphModule, ...]
    error: Exception | None
    verdict: str

    def __str__(self) -> str:
        if self.error is not None:
            return _line(self.error)
        count = len(self.graphs)
        nodes = sum(len(module.graph.nodes) for module in self.graphs)
        return f"{'a graph' if count == 1 else f'{count} graphs'} of {nodes} nodes, {self.verdict}"


class Recordings(Mapping[str, Recording]):
    """The recordings by the name of the front end; displays as a table."""

    def __init__(self, recordings: Mapping[str, Recording]) -> None:
        self._recordings = dict(recordings)

    def __getitem__(self, name: str) -> Recording:
        return self._recordings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._recordings)

    def __len__(self) -> int:
        return len(self._recordings)

    def __repr__(self) -> str:
        return "\n".join(f"{name:15} {recording}" for name, recording in self._recordings.items())


def front_ends(program: Program, *inputs: Any, then: tuple[Any, ...] | None = None) -> Recordings:
    """Record a program with `symbolic_trace`, `make_fx`, `torch.export` and `torch.compile`, and run what was recorded.

    Args:
        program: a module or a function of positional arguments. A module is copied for each front end.
        inputs: what it is recorded with; `symbolic_trace` takes none of them.
        then: the inputs of the run, by default those of the recording. The verdict is ``"right"`` where the run gives
            what the program gives, and leaves its inputs as the program leaves them, to within rounding.

    Returns:
        For each front end, what it recorded, or the error it raised.

    Raises:
        Exception: the program itself fails on its inputs.
    """
    asked = inputs if then is None else then
    for given in (inputs, asked):
        _run(program, given)
    with torch.random.fork_rng(devices=[]):
        return Recordings({name: _recorded(record, program, inputs, asked) for name, record in _RECORD.items()})


def _recorded(
    record: Callable[[Program, tuple[Any, ...]], tuple[Program, list[fx.GraphModule]]],
    program: Program,
    inputs: tuple[Any, ...],
    asked: tuple[Any, ...],
) -> Recording:
    with _quiet():
        try:
            runs, graphs = record(copy.deepcopy(program), copy.deepcopy(inputs))
        except Exception as error:  # Whatever a front end raises is its answer; the program itself was run before.
            return Recording((), error, "")
        expected = _run(program, asked)
        try:
            found = _run(runs, asked)
        except Exception as error:
            return Recording(tuple(graphs), None, _line(error))
    try:
        torch.testing.assert_close(found, expected, equal_nan=True)
    except AssertionError:
        return Recording(tuple(graphs), None, "wrong")
    return Recording(tuple(graphs), None, "right")


def _run(program: Program, inputs: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """What a program returns for copies of the inputs, under a fixed seed, and the inputs as it leaves them."""
    given = copy.deepcopy(inputs)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return program(*given), given


def _by_symbolic_trace(program: Program, _: tuple[Any, ...]) -> tuple[Program, list[fx.GraphModule]]:
    traced = fx.symbolic_trace(program)
    return traced, [traced]


def _by_make_fx(program: Program, inputs: tuple[Any, ...]) -> tuple[Program, list[fx.GraphModule]]:
    traced = make_fx(program)(*inputs)
    return traced, [traced]


def _by_export(program: Program, inputs: tuple[Any, ...]) -> tuple[Program, list[fx.GraphModule]]:
    module = program if isinstance(program, nn.Module) else _Called(program)
    exported = torch.export.export(module, inputs).module()
    return exported, [exported]


def _by_compile(program: Program, inputs: tuple[Any, ...]) -> tuple[Program, list[fx.GraphModule]]:
    graphs: list[fx.GraphModule] = []

    def keep(module: fx.GraphModule, _: list[Any]) -> Callable[..., Any]:
        graphs.append(module)
        return module.forward

    torch.compiler.reset()
    compiled = torch.compile(program, backend=keep)
    compiled(*copy.deepcopy(inputs))
    return compiled, list(graphs)


class _Called(nn.Module):
    """A function as a module, since `torch.export` takes nothing else."""

    def __init__(self, function: Program) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


_RECORD = {
    "symbolic_trace": _by_symbolic_trace,
    "make_fx": _by_make_fx,
    "torch.export": _by_export,
    "torch.compile": _by_compile,
}


def _line(error: Exception) -> str:
    """An error in one line: its class and the first line of its message."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    text = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep off the page what a front end logs or prints about an error that the table tells."""
    logger = logging.getLogger("torch")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        logger.setLevel(level)
