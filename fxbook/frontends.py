"""Record one program with the four front ends that make graphs, and compare the results."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import fx, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

_LONGEST = 100
_RIGHT, _WRONG, _WRONG_GRADIENTS = "right", "wrong", "wrong gradients"
_NAMED = (str, torch.dtype, torch.device)
Program = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Recording:
    """What one front end made of a program.

    Attributes:
        graphs: the recorded modules: several if `torch.compile` broke the graph, none if recording failed.
        error: what recording raised, or ``None``.
        verdict: ``"right"``, ``"wrong"``, ``"wrong gradients"``, or the error of the run.
    """

    graphs: tuple[fx.GraphModule, ...]
    error: Exception | None
    verdict: str

    @property
    def outcome(self) -> str:
        """One word for a table: the verdict, ``"stops"`` (nothing was recorded) or ``"refuses"`` (the run failed)."""
        if self.error is not None:
            return "stops"
        return self.verdict if self.verdict in (_RIGHT, _WRONG, _WRONG_GRADIENTS) else "refuses"

    def __str__(self) -> str:
        if self.error is not None:
            return _line(self.error)
        count = len(self.graphs)
        nodes = sum(len(module.graph.nodes) for module in self.graphs)
        return f"{'a graph' if count == 1 else f'{count} graphs'} of {nodes} nodes, {self.verdict}"


class Recordings(Mapping[str, Recording]):
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


def front_ends(
    program: Program,
    *inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    then: tuple[Any, ...] | None = None,
    change: Callable[[Any], object] | None = None,
    gradients: bool = False,
) -> Recordings:
    """Record a program with `symbolic_trace`, `make_fx`, `torch.export` and `torch.compile`, and run what was recorded.

    `torch.compile` uses a backend that runs the graphs unchanged, because the default one draws different random
    numbers.

    Args:
        program: a module or a function. A module is copied for each front end.
        inputs: the inputs to record it with; `symbolic_trace` does not use them.
        kwargs: keyword inputs. `make_fx` does not take any, so it gets them by position.
        then: the inputs of the run, by default the recorded ones; `kwargs` are used in both. The verdict is
            ``"right"`` if the run gives the same result as the program and leaves inputs and buffers in the same
            state, up to rounding.
        change: a function applied, before the run, to the program and to what was recorded, such as ``lambda module:
            module.eval()``.
        gradients: also compare the gradients of inputs and parameters, and which results have a gradient. If only
            these differ, the verdict is ``"wrong gradients"``.

    Returns:
        For each front end, what it recorded or the error it raised.

    Raises:
        Exception: the program itself fails on its inputs.

    Example:
        >>> import torch
        >>> from fxbook import front_ends
        >>> recorded = front_ends(lambda x: x.sum(0) / x.shape[0], torch.ones(2, 3), then=(torch.ones(4, 3),))
        >>> recorded["symbolic_trace"].verdict, recorded["make_fx"].verdict
        ('right', 'wrong')
    """
    given = _Given(inputs, dict(kwargs or {}))
    asked = _Run(given if then is None else given._replace(args=then), change, gradients)
    with _quiet():
        _Run(given).of(copy.deepcopy(program))
        expected = asked.of(copy.deepcopy(program))
    return Recordings({name: _recorded(record, program, given, asked, expected) for name, record in _RECORD.items()})


class _Given(NamedTuple):
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class _Run:
    """A run to compare: it applies the change, then makes one call with a fixed seed."""

    inputs: _Given
    change: Callable[[Any], object] | None = None
    gradients: bool = False

    def of(self, program: Program, owner: Program | None = None) -> tuple[Any, Any]:
        """Make one call and return the result, with the inputs and buffers after it, and the gradients by name.

        The gradients also say whether each result has one. Parameters and buffers come from ``owner``, by default the
        program, which is changed and called.
        """
        if self.change is not None:
            self.change(program)
        owner = program if owner is None else owner
        leaves, given = copy.deepcopy(self.inputs), copy.deepcopy(self.inputs)
        sources: dict[str, torch.Tensor] = {}
        if self.gradients:
            for tensor in _differentiable(leaves):
                sources[f"input {len(sources)}"] = tensor.requires_grad_()
            # The copies are not leaves, so the program may work in place on them.
            given = pytree.tree_map_only(torch.Tensor, torch.clone, leaves)
            sources |= _parameters(owner)
        with _seeded(0):
            result = program(*given.args, **given.kwargs)
        ends = [tensor for tensor in _differentiable(result) if tensor.requires_grad]
        gradients: tuple[torch.Tensor | None, ...] = (None,) * len(sources)
        if sources and ends:
            # A different weight for each element, so that errors cannot cancel.
            starts = [1.0 + 2 * at for at in range(len(ends))]
            weights = [
                torch.linspace(start, start + 1, end.numel(), dtype=end.dtype).view_as(end)
                for start, end in zip(starts, ends, strict=True)
            ]
            gradients = torch.autograd.grad(ends, list(sources.values()), weights, allow_unused=True)
        own = _buffers(program)
        buffers = {name: own.get(name, buffer) for name, buffer in _buffers(owner).items()}
        found: dict[str, Any] = dict(zip(sources, gradients, strict=True))
        if self.gradients:
            found["results"] = [tensor.requires_grad for tensor in _differentiable(result)]
        return (result, given, buffers), found


def _recorded(
    record: Callable[[Program, _Given], tuple[Program, list[fx.GraphModule]]],
    program: Program,
    inputs: _Given,
    asked: _Run,
    expected: tuple[Any, Any],
) -> Recording:
    # Recording may run the program, and tracing may change it, so it gets a copy.
    source = copy.deepcopy(program)
    with _quiet():
        try:
            with _seeded(1):
                runs, graphs = record(source, copy.deepcopy(inputs))
        except Exception as error:  # Whatever a front end raises is its result; the program itself has already run.
            return Recording((), error, "")
        try:
            _restore(source, program)
            if asked.change is not None:
                asked.change(source)
            found = asked.of(runs, source)
        except Exception as error:
            return Recording(tuple(graphs), None, _line(error))
    for part, verdict in ((0, _WRONG), (1, _WRONG_GRADIENTS)):
        if not _agree(found[part], expected[part]):
            return Recording(tuple(graphs), None, verdict)
    return Recording(tuple(graphs), None, _RIGHT)


def _agree(found: Any, expected: Any) -> bool:
    # assert_close raises a TypeError for a string, a dtype or a device, so these are compared on their own.
    named = [[leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, _NAMED)] for value in (found, expected)]
    found, expected = (pytree.tree_map_only(_NAMED, lambda _: None, value) for value in (found, expected))
    try:
        torch.testing.assert_close(found, expected, equal_nan=True)
    except (AssertionError, TypeError):
        return False
    return named[0] == named[1]


def _parameters(program: Program) -> dict[str, torch.Tensor]:
    return dict(program.named_parameters()) if isinstance(program, nn.Module) else {}


def _buffers(program: Program) -> dict[str, torch.Tensor]:
    return dict(program.named_buffers()) if isinstance(program, nn.Module) else {}


def _restore(module: Program, original: Program) -> None:
    """Restore the original values of parameters and buffers, except a buffer that tracing replaced with a Proxy."""
    values = {**_parameters(original), **_buffers(original)}
    with torch.no_grad():
        for name, tensor in {**_parameters(module), **_buffers(module)}.items():
            if isinstance(tensor, torch.Tensor) and name in values:
                tensor.copy_(values[name])


def _differentiable(values: Any) -> list[torch.Tensor]:
    tensors = (value for value in pytree.tree_leaves(values) if isinstance(value, torch.Tensor))
    return [tensor for tensor in tensors if tensor.is_floating_point()]


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def _by_symbolic_trace(program: Program, _: _Given) -> tuple[Program, list[fx.GraphModule]]:
    traced = fx.symbolic_trace(program)
    return traced, [traced]


def _by_make_fx(program: Program, inputs: _Given) -> tuple[Program, list[fx.GraphModule]]:
    if not inputs.kwargs:
        traced = make_fx(program)(*inputs.args)
        return traced, [traced]
    values, spec = pytree.tree_flatten(tuple(inputs))

    def by_position(*values: Any) -> Any:
        args, kwargs = pytree.tree_unflatten(values, spec)
        return program(*args, **kwargs)

    traced = make_fx(by_position)(*values)
    return lambda *args, **kwargs: traced(*pytree.tree_leaves((args, kwargs))), [traced]


def _by_export(program: Program, inputs: _Given) -> tuple[Program, list[fx.GraphModule]]:
    module = program if isinstance(program, nn.Module) else _Called(program)
    exported = torch.export.export(module, *inputs).module()
    return exported, [exported]


def _by_compile(program: Program, inputs: _Given) -> tuple[Program, list[fx.GraphModule]]:
    graphs: list[fx.GraphModule] = []

    def keep(module: fx.GraphModule, _: list[Any]) -> Callable[..., Any]:
        graphs.append(module)
        return module.forward

    torch.compiler.reset()
    compiled = torch.compile(program, backend=keep)
    args, kwargs = copy.deepcopy(inputs)
    compiled(*args, **kwargs)
    return compiled, list(graphs)


class _Called(nn.Module):
    """A function wrapped in a module, which `torch.export` requires."""

    def __init__(self, function: Program) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any, **named: Any) -> Any:
        return self.function(*inputs, **named)


_RECORD = {
    "symbolic_trace": _by_symbolic_trace,
    "make_fx": _by_make_fx,
    "torch.export": _by_export,
    "torch.compile": _by_compile,
}


def _line(error: Exception) -> str:
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    text = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress what a front end logs or prints about an error, because the table shows the error."""
    logger = logging.getLogger("torch")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        logger.setLevel(level)
