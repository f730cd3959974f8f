"""Run a graph and record the result of each node and the memory held after it, as plain data.

An ``Interpreter`` runs the graph on copies of the inputs. Everything is measured: bytes are counted from the storages
that are alive (see ``fxbook.stepping.run.memory``), and what the interpreter still holds is read from its ``env``. The
record holds only strings and numbers, so it keeps nothing alive.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import torch
from torch import fx, nn

from fxbook.drawing.lettering import clean
from fxbook.stepping.run.memory import Memory, Store, cloned
from fxbook.stepping.run.values import Described, describe

Method = Literal["run", "boxed_run"]


@dataclasses.dataclass
class Value:
    """The result of one node. ``made`` is the step at which it appeared, or -1 before the first node.

    ``dropped`` is the step after which the interpreter no longer held the value, or ``None`` if it held it to the end.
    ``stores`` are the numbers of its storages in ``RunRecord.stores``.
    """

    described: Described
    stores: tuple[int, ...]
    made: int
    dropped: int | None = None

    def held_after(self, step: int) -> bool:
        return self.made <= step and (self.dropped is None or self.dropped > step)


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """A recorded run: values and bytes by step; a step is the position of a node in the list.

    Attributes:
        method: how the inputs were passed: ``run(*inputs)`` or ``boxed_run([…])``.
        values: for each node, its value, or ``None`` if it did not run.
        stores: the storages seen; ``Value.stores`` points into them.
        during: bytes alive once the node has made its result and before anything is freed.
        after: bytes alive once the interpreter has freed what is no longer needed.
        left: bytes alive once the run has returned and its interpreter is gone: those of the result, and of values
            that something else still holds; ``None`` after an error.
        in_module: bytes of parameters, buffers and other stored tensors, which none of the counts above include.
        error: type and message of the error raised, or ``None``; ``failed`` is the step at which it was raised, or
            ``None`` if that was before the first node.
        remarks: remarks on the whole run.
    """

    method: Method
    values: tuple[Value | None, ...]
    stores: tuple[Store, ...]
    during: tuple[int, ...]
    after: tuple[int, ...]
    left: int | None
    in_module: int
    error: str | None
    failed: int | None
    remarks: tuple[str, ...]

    @property
    def steps(self) -> int:
        return len(self.during)

    @property
    def peak(self) -> int:
        """The most bytes alive at once between nodes, not counting memory that an operation uses internally."""
        return max(self.during, default=0)

    @property
    def peak_step(self) -> int | None:
        """The first step at which that many bytes were alive."""
        return self.during.index(self.peak) if self.during else None

    @functools.cached_property
    def owner(self) -> dict[int, int]:
        owners: dict[int, int] = {}
        for index, value in enumerate(self.values):
            for number in value.stores if value else ():
                owners.setdefault(number, index)
        return owners

    @functools.cached_property
    def holders(self) -> dict[int, list[int]]:
        """For each storage, the nodes whose values use it, in list order."""
        found: dict[int, list[int]] = {}
        for index, value in enumerate(self.values):
            for number in value.stores if value else ():
                found.setdefault(number, []).append(index)
        return found

    @functools.cached_property
    def freed(self) -> dict[int, list[int]]:
        """The storages freed after each step, except those that the module stores."""
        found: dict[int, list[int]] = {}
        for number, store in enumerate(self.stores):
            if store.gone is not None and not store.stored and store.nbytes and number in self.owner:
                found.setdefault(store.gone, []).append(number)
        return found

    @functools.cached_property
    def for_backward(self) -> bool:
        return any(value is not None and value.described.requires_grad for value in self.values)

    def held_at(self, number: int, step: int) -> list[int]:
        """The first two nodes in list order whose values use the storage and are held after the step."""
        if (number, step) not in self._held:
            living = (at for at in self.holders[number] if self.values[at].held_after(step))
            self._held[number, step] = list(itertools.islice(living, 2))
        return self._held[number, step]

    @functools.cached_property
    def _held(self) -> dict[tuple[int, int], list[int]]:
        return {}


class _Recorder(fx.Interpreter):
    """An interpreter that records what it does; ``log`` holds no value."""

    def __init__(self, module: nn.Module, graph: fx.Graph, log: _Log) -> None:
        super().__init__(module, graph=graph)
        self.log = log
        # Otherwise, an error's message would contain the whole node and a traceback.
        self.extra_traceback = False

    def run_node(self, n: fx.Node) -> Any:
        self.log.before(n, self.env)
        result = super().run_node(n)
        self.log.made(n, result)
        return result


class _Log:
    def __init__(self, graph: fx.Graph, memory: Memory) -> None:
        self.memory = memory
        self.nodes = list(graph.nodes)
        self.position = {node: index for index, node in enumerate(self.nodes)}
        self.values: list[Value | None] = [None] * len(self.position)
        self.during: list[int] = []
        self.after: list[int] = []
        self.current: int | None = None
        self._held: set[fx.Node] = set()

    def before(self, node: fx.Node, env: dict[fx.Node, Any]) -> None:
        """Close the step before this node; also record the placeholders that boxed_run has set without running them."""
        if self.current is None:
            for given, value in env.items():
                self._note(given, value, -1)
        step = self.position[node]
        self._close(step - 1, env)
        self.current = step

    def made(self, node: fx.Node, result: Any) -> None:
        step = self.position[node]
        self._note(node, result, step)
        for read in node.all_input_nodes:
            value = self.values[self.position[read]] if read in self.position else None
            self.memory.weigh(value.stores if value else ())
        self.during.append(self.memory.measure(step))

    def end(self, env: dict[fx.Node, Any] | None) -> None:
        self._close(len(self.during) - 1, env)

    def _note(self, node: fx.Node, value: Any, step: int) -> None:
        stores = self.memory.see(value, step, stored=node.op == "get_attr", given=node.op == "placeholder")
        self.values[self.position[node]] = Value(describe(value), stores, step)
        self._held.add(node)

    def _close(self, step: int, env: dict[fx.Node, Any] | None) -> None:
        """Measure what is left after the step, and after any skipped steps before it."""
        held = self.memory.measure(max(step, 0))
        # An interpreter drops a value after its last user.
        read = {read for node in self.nodes[len(self.after) : step + 1] for read in node.all_input_nodes}
        self.during += [held] * (step + 1 - len(self.during))
        self.after += [held] * (step + 1 - len(self.after))
        for node in [node for node in read & self._held if env is not None and node not in env]:
            self._held.discard(node)
            value = self.values[self.position[node]]
            assert value is not None
            value.dropped = step


def record_run(module: nn.Module, graph: fx.Graph, inputs: Sequence[Any], method: Method = "run") -> RunRecord:
    """Run the graph once on copies of the inputs and describe the run.

    The run is an ordinary call: it advances the random generator, and a BatchNorm in training mode counts it.
    An error is recorded, not raised.
    """
    memory = Memory(module)
    log = _Log(graph, memory)
    left, error = None, None
    with _no_cycle_collection():
        try:
            left = _run(module, graph, cloned(inputs), method, memory, log)
        except Exception as raised:
            # Text only: an exception holds its frames, and they hold tensors.
            error = f"{type(raised).__name__}: {_first_lines(raised)}"
    failed = log.current if error is not None else None
    if failed is not None and failed < len(log.during):
        # The error was raised after the last node, while the results were packed.
        failed = None
    return RunRecord(
        method,
        tuple(log.values),
        tuple(memory.stores),
        tuple(log.during),
        tuple(log.after[: len(log.during)]),
        left,
        memory.in_module,
        error,
        failed,
        tuple(_remarks(graph, inputs, method, log, memory)),
    )


def _run(module: nn.Module, graph: fx.Graph, inputs: list[Any], method: Method, memory: Memory, log: _Log) -> int:
    """Do the run; ``inputs`` is emptied, so that only the run decides how long an input lives."""
    memory.see(inputs, -1, given=True)
    interpreter = _Recorder(module, graph, log)
    try:
        result = interpreter.boxed_run(inputs) if method == "boxed_run" else interpreter.run(*_given_up(inputs))
    finally:
        inputs.clear()
        log.end(interpreter.env)
        # As long as it lives, its env holds the result, and its args_iter the inputs.
        del interpreter
    memory.see(result, len(log.during))
    return memory.measure(len(log.during))


def _given_up(inputs: list[Any]) -> tuple[Any, ...]:
    taken = tuple(inputs)
    inputs.clear()
    return taken


def _first_lines(raised: Exception) -> str:
    try:
        lines = [clean(line, 300) for line in str(raised).strip().splitlines()]
    except Exception:
        return "(its message cannot be read)"
    return "\n".join([*lines[:4], *(["…"] if len(lines) > 4 else [])])


def _remarks(graph: fx.Graph, inputs: Sequence[Any], method: Method, log: _Log, memory: Memory) -> Iterator[str]:
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    names = [str(node.target) for node in placeholders]
    # `run` uses the defaults of the last placeholders if they get no input; `boxed_run` never does.
    needed = [node for node in placeholders if method == "boxed_run" or not node.args]
    # Before torch 2.10, boxed_run accepted a list of any length.
    ran = any(value is not None for value in log.values)
    if isinstance(graph._codegen, torch.fx.graph._PyTreeCodeGen):
        names = []
    elif not len(needed) <= len(inputs) <= len(names) and not any(name.startswith("*") for name in names):
        yield (
            f"The graph has {_count(len(names), 'input')} ({', '.join(map(clean, names[:8])) or 'none'}), "
            f"but {len(inputs)} {'was' if len(inputs) == 1 else 'were'} given."
            + (f" Interpreter.{method} ignores the rest." if len(inputs) > len(names) and ran else "")
        )
    described = [value.described for value in log.values if value is not None]
    if any(value.on_meta for value in described):
        yield "Tensors on meta hold no memory: their bytes are what they would take elsewhere."
    if memory.unmeasured:
        yield "Some tensors have no storage to measure (sparse tensors, for one): their bytes are not counted."
    if torch.is_grad_enabled() and any(value.requires_grad for value in described):
        yield "Autograd is on and keeps values for backward: run under torch.no_grad() to see them freed."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


@contextlib.contextmanager
def _no_cycle_collection() -> Iterator[None]:
    """Switch off the cycle collector, since it would free memory at unpredictable moments."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
