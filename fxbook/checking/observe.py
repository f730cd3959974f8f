"""The first half of a check: use the learner's answer and write down, as plain data, what it did.

Runs the learner's code, so it belongs in a child process (:mod:`fxbook.checking.apart`) or a sandbox. What it returns
is JSON, for :func:`fxbook.checking.judge.judge`, which never meets the learner's objects.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import torch
from torch import fx, nn

from fxbook.checking import wire
from fxbook.checking.answers import UnusableError, caller
from fxbook.checking.apart import had_its_time, spare_memory
from fxbook.checking.blame import describe
from fxbook.checking.given import Given
from fxbook.checking.guard import Guard
from fxbook.checking.quick_errors import quick_errors
from fxbook.checking.snapshot import Snapshot
from fxbook.checks.exercise import Case, Exercise, inputs_of, model_of, seeded
from fxbook.checks.running import run_on
from fxbook.checks.values import encode
from fxbook.record import record

JSON = Any
# In the child nobody else can be asked what these are: an answer may replace them in torch.fx.
_Graph, _GraphModule, _Interpreter, _Module = fx.Graph, fx.GraphModule, fx.Interpreter, nn.Module
_ORIGIN = "fxbook_origin"
_MOST_PRINTED = 4000
_AGAIN_SECONDS = 0.05
# torch.export, torch.compile and the like import hundreds of modules when they are first used.
_MANY_MODULES = 50


class TimeUp(BaseException):
    """The soft limit is over; raised in the learner's code, so that its line is known."""


def observe(
    exercise: Exercise, answer: Any, seed: int, seconds: float | None = None, *, rebuildable: bool = False
) -> JSON:
    """Use the answer on every case of the exercise.

    Args:
        exercise: what to do with the answer.
        answer: the learner's function, class, module or graph.
        seed: chooses weights and inputs; the judge needs the same.
        seconds: soft limit; ``None`` where there is none. Only the main thread can be interrupted.
        rebuildable: tell of each graph also what it can be built again from, as ``"wire"`` of its case.

    Returns:
        ``{"exercise", "seed", "problem", "error", "cases", "printed", "replaced"}``. ``problem`` is a sentence about an
        answer that cannot be used, ``error`` describes what the learner's code raised, in the case after the last.
    """
    seen: JSON = {"exercise": exercise.id, "seed": seed, "problem": None, "error": None, "cases": []}
    printed = _Bounded(_MOST_PRINTED)
    guard = Guard()
    modules = len(sys.modules)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            # Whatever the notebook has set: chapter 08 switches gradients off.
            with _alarm(seconds), quick_errors(), torch.enable_grad():
                call = caller(exercise, answer)
                for index, case in enumerate(exercise.cases):
                    _observe_case(exercise, case, call, seed + 1000 * index, seen, rebuildable)
        except UnusableError as problem:
            seen["problem"] = str(problem)
        except BaseException as error:
            if isinstance(error, MemoryError):
                spare_memory()
            seen["error"] = describe(error)
            seen["error"]["loading"] = len(sys.modules) - modules > _MANY_MODULES
    seen["printed"] = printed.getvalue()
    seen["replaced"] = guard.replaced()[:5]
    return seen


def _observe_case(
    exercise: Exercise, case: Case, call: Callable[..., Any], seed: int, seen: JSON, rebuildable: bool
) -> None:
    model = model_of(case, seed)
    arguments = exercise.arguments(case, model, seed)
    given = next((item for item in arguments if isinstance(item, _Module)), None)
    root = given if given is not None else model
    weights = weights_of(model, root)
    before = Snapshot.of(given) if given is not None else None
    kept = Given(root) if rebuildable and exercise.use != "compute" else None
    origins = _mark(given.graph) if isinstance(given, _GraphModule) else {}
    found: JSON = {"kind": "", "graph": None, "outputs": None, "run_error": None, "run_node": None, "value": None}
    _bind(call, arguments)
    with seeded(seed):
        result = call(*arguments)
    if type(result).__name__ == "PassResult" and exercise.use in ("pass", "edit"):
        result = result.graph_module
    if exercise.use == "edit" and (result is None or isinstance(result, bool) or result is getattr(given, "graph", 0)):
        result = given
    found["kind"] = _kind(result)
    found["same_object"] = result is given and given is not None
    found["changes"] = before.changes(given)[:10] if before is not None else []
    found["origins"], found["shared"], found["modules"] = [], {}, []
    if exercise.use == "compute":
        found["value"] = encode(result)
    elif isinstance(result, _Graph | _GraphModule):
        graph = result if isinstance(result, _Graph) else result.graph
        found["origins"] = [origins.get(id(node), _copied_from(node)) for node in graph.nodes]
        if kept is not None:
            found["wire"] = wire.describe(result, kept)
        found |= observe_graph(result, root, weights, case, seed)
    seen["cases"].append(found)


def observe_graph(
    result: fx.Graph | fx.GraphModule, root: nn.Module, weights: dict[int, str], case: Case, seed: int
) -> JSON:
    """What a graph is and does: all of an observation that needs nothing but the graph and what it runs in.

    Args:
        result: the graph; a bare one finds its submodules and weights in ``root``.
        root: what the answer was given, or the model of the case.
        weights: see :func:`weights_of`.
        case: whose inputs it is run on.
        seed: chooses them.

    Returns:
        ``{"graph", "outputs", "run_error", "run_node", "shared", "modules"}``
    """
    found: JSON = {"outputs": None, "run_error": None, "run_node": None, "shared": {}, "modules": []}
    module = _runnable(result, root, found)
    found["graph"] = record(result if module is None else module).to_json()
    if module is not None:
        found["shared"] = {name: weights.get(id(held)) for name, held in _named(module)}
        found["modules"] = [path for path, _ in module.named_modules(remove_duplicate=False) if path]
        _run(module, case, seed, found)
    return found


def _runnable(result: fx.Graph | fx.GraphModule, root: nn.Module, found: JSON) -> fx.GraphModule | None:
    """The result as a module: a bare graph finds its submodules and weights in ``root``."""
    if isinstance(result, _GraphModule):
        return result
    try:
        return _GraphModule(root, result)
    except (TimeUp, MemoryError):
        raise
    except BaseException as error:
        found["run_error"] = _told(error)
        return None


def _run(module: fx.GraphModule, case: Case, seed: int, found: JSON) -> None:
    try:
        found["outputs"] = [encode(output) for output in run_on(module.forward, inputs_of(case, seed), seed)]
    except (TimeUp, MemoryError):
        raise
    except BaseException as error:
        found["run_error"] = _told(error)
        found["run_node"] = _failing_node(module, case, seed, found["run_error"])


class _Reached(_Interpreter):
    """Knows which node it runs."""

    node: fx.Node | None = None

    def run_node(self, n: fx.Node) -> Any:
        self.node = n
        return super().run_node(n)


def _failing_node(module: fx.GraphModule, case: Case, seed: int, told: str) -> int | None:
    """The index of the node that raises, where running the graph node by node raises an error of the same type."""
    interpreter = _Reached(module)
    interpreter.extra_traceback = False
    try:
        run_on(interpreter.run, inputs_of(case, seed), seed)
    except (TimeUp, MemoryError):
        raise
    except BaseException as error:
        # The words may differ: lists that are arguments of a node are immutable in the graph only.
        if interpreter.node is not None and told.startswith(f"{type(error).__name__}:"):
            return list(module.graph.nodes).index(interpreter.node)
    return None


def _told(error: BaseException) -> str:
    raised = describe(error)
    return f"{raised['type']}: {raised['message']}"


def _kind(result: Any) -> str:
    for kind, name in ((_GraphModule, "GraphModule"), (_Graph, "Graph"), (_Module, "Module")):
        if isinstance(result, kind):
            return name
    if result is None:
        return "None"
    return f"class {result.__qualname__}" if isinstance(result, type) else type(result).__qualname__


def _bind(call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Refuse a function that cannot take these arguments, before its body is blamed for a TypeError."""
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        taken = len(signature.parameters)
        kinds = ", ".join(_kind(argument) for argument in arguments)
        count = f"{len(arguments)} argument{'' if len(arguments) == 1 else 's'}" if arguments else "no arguments"
        called = f"{count} ({kinds})" if kinds else count
        raise UnusableError(f"Your function is called with {called}, but takes {taken}.") from None


def weights_of(*modules: nn.Module) -> dict[int, str]:
    """The names of parameters and buffers by the identity of the object; the last module's names count."""
    return {id(held): name for module in modules for name, held in _named(module)}


def _named(module: nn.Module) -> list[tuple[str, Any]]:
    return [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]


def _mark(graph: fx.Graph) -> dict[int, int]:
    """Number the nodes of the graph given, so that they are known again; a copy of a node carries its ``meta`` too."""
    marked = {}
    for index, node in enumerate(graph.nodes):
        node.meta[_ORIGIN] = index
        marked[id(node)] = index
    return marked


def _copied_from(node: fx.Node) -> int | None:
    origin = node.meta.get(_ORIGIN) if isinstance(node.meta, dict) else None
    return origin if isinstance(origin, int) else None


@contextlib.contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    """Raise :class:`TimeUp` in the body after so many seconds, where this thread can be interrupted."""
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or not usable:
        yield
        return

    started, used = time.monotonic(), time.process_time()

    def ring(_number: int, _frame: FrameType | None) -> None:
        if had_its_time(time.monotonic() - started, time.process_time() - used, seconds):
            raise TimeUp
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS)

    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


class _Bounded(io.TextIOBase):
    """Takes any amount of text and keeps the first of it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = ""
        self._total = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._kept += text[: self._most - len(self._kept)]
        self._total += len(text)
        return len(text)

    def getvalue(self) -> str:
        rest = self._total - len(self._kept)
        return self._kept + (f"… and {rest} more characters" if rest else "")
