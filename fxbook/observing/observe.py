"""The first half of a check: use the learner's answer and record, as plain data, what it did.

It runs the learner's code, so it belongs in a child process (:mod:`fxbook.observing.forked`) or a sandbox. It returns
JSON for :func:`fxbook.checking.judge.judge`, which never sees the learner's objects.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import msgspec
import torch
from torch import fx, nn

from fxbook.cases.exercise import Case, inputs_of, seeded
from fxbook.cases.running import run_on, values_inside
from fxbook.cases.values import Value, encode
from fxbook.graph import wire
from fxbook.graph.global_state import GlobalStateSnapshot
from fxbook.graph.record import record
from fxbook.observing.answers import UnusableError, caller
from fxbook.observing.blame import describe
from fxbook.observing.forked import WALL_PER_PROCESSOR_SECOND, spare_memory
from fxbook.observing.guard import Guard
from fxbook.observing.observation import CaseFacts, GraphFacts, Observation, Raised, as_json
from fxbook.observing.prepare import ORIGIN, Prepared, PreparedCase, named
from fxbook.observing.quick_errors import quick_errors

JSON = Any
# Saved here, because the answer may monkeypatch torch.fx in the child.
_Graph, _GraphModule, _Interpreter, _Module = fx.Graph, fx.GraphModule, fx.Interpreter, nn.Module
_as_json, _as_dict = as_json, msgspec.structs.asdict
_GlobalStateSnapshot = GlobalStateSnapshot
_Observation, _CaseFacts, _GraphFacts, _Raised = Observation, CaseFacts, GraphFacts, Raised
_MOST_PRINTED = 4000
# Added to torch's seed while an answer runs: with the seed of the case, a new model of the same class would have the
# weights of the given one.
_ANSWER = 2_000_003
# torch.export and torch.compile import hundreds of modules at their first use.
_MANY_MODULES = 50


class TimeUp(BaseException):
    """Time is up; raised in the learner's code, so that its line is known."""


class _Turn:
    """Records whether the answer or the check is running, and so which of them raised an error."""

    def __init__(self) -> None:
        self._answer = False

    def begin(self) -> None:
        self._answer = False

    def call(self, answer: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        self._answer = True
        result = answer(*arguments)
        self._answer = False
        return result

    def is_own(self, error: BaseException, line: str | None) -> bool:
        return not (self._answer or line or isinstance(error, (TimeUp, MemoryError)))


def observe(prepared: Prepared, answer: Any, seconds: float = 0.0) -> JSON:
    """Run the answer on every case of an exercise.

    After ``seconds`` of processor time, or six times as much wall time, the answer is interrupted; 0 sets no limit.
    It is also interrupted when its process has used up its processor time. Only the main thread can be interrupted.

    Returns:
        An :class:`fxbook.observing.observation.Observation` as JSON. For an answer that is data, each case has its own
        ``error`` and the next one is still tried, since the order of the cases is random.
    """
    cases: list[CaseFacts] = []
    problem, raised = None, None
    printed = _Bounded(_MOST_PRINTED)
    guard = Guard()
    turn = _Turn()
    modules = len(sys.modules)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            # Gradients are on, whatever the notebook has set: chapter 08 switches them off.
            with _interrupted_after(seconds), quick_errors(), torch.enable_grad():
                call = caller(prepared, answer)
                for case in prepared.cases:
                    cases.append(_observed(prepared, case, call, turn))
        except UnusableError as unusable:
            problem = str(unusable)
        except BaseException as error:
            if isinstance(error, MemoryError):
                spare_memory()
            raised = _described(error, modules, turn)
    return _as_json(
        _Observation(
            exercise=prepared.id,
            problem=problem,
            error=raised,
            cases=cases,
            printed=printed.getvalue(),
            replaced=guard.replaced()[:5],
        )
    )


def _described(error: BaseException, modules: int, turn: _Turn) -> Raised:
    """Describe an error.

    ``modules`` is the number of modules loaded beforehand; if there are now many more, torch is loading its compiler.
    """
    described = describe(error)
    is_loading = len(sys.modules) - modules > _MANY_MODULES
    own = turn.is_own(error, described["line"])
    return _Raised(described["type"], described["message"], described["line"], is_loading, own)


def _observed(prepared: Prepared, case: PreparedCase, call: Callable[..., Any], turn: _Turn) -> CaseFacts:
    turn.begin()
    use = prepared.use
    # An answer whose result is data only reads the graph, unless a function of the case uses the answer to edit it.
    reads = use == "compute" and prepared.call is None
    _bind(call, case.arguments)
    modules = len(sys.modules)
    try:
        # Building a graph may draw random numbers, and these must differ from the numbers drawn to make the case and to
        # run the graph. If the answer is data, the seed must reveal nothing.
        with seeded(_ANSWER + (case.tried.seed if case.tried else 0)):
            around = _GlobalStateSnapshot(case.arguments, case.models, reads=reads)
            result = turn.call(call, case.arguments)
            left = around.side_effects()[:5]
            around.put_back()
        if use == "compute":
            return _CaseFacts(**_facts(case, result), value=encode(result), left=left)
    except (TimeUp, MemoryError, UnusableError):
        raise
    except BaseException as error:
        if use != "compute":
            raise
        return _CaseFacts(error=_described(error, modules, turn))
    if type(result).__name__ == "PassResult" and use in ("pass", "edit"):
        result = result.graph_module
    if use == "edit" and not _stands_for_itself(case, result):
        result = case.given
    return _CaseFacts(**_facts(case, result), **_facts_of_graph(case, result), left=left)


def _stands_for_itself(case: PreparedCase, result: Any) -> bool:
    """Whether what an editing answer returned is its result: a new graph counts only if the given one is unchanged."""
    if isinstance(result, _GraphModule):
        return True
    if not isinstance(result, (_Graph, _Module, types.GeneratorType)) or result is getattr(case.given, "graph", None):
        return False
    return case.before is None or not case.before.changes()


def _facts(case: PreparedCase, result: Any) -> dict[str, Any]:
    changes = case.before.changes()[:10] if case.before is not None else []
    same = result is case.given and case.given is not None
    return {"kind": _kind(result), "same_object": same, "changes": changes}


def _facts_of_graph(case: PreparedCase, result: Any) -> dict[str, Any]:
    tried = case.tried
    if tried is None or not isinstance(result, _Graph | _GraphModule):
        return {}
    graph = result if isinstance(result, _Graph) else result.graph
    facts: dict[str, Any] = {"origins": [tried.origins.get(id(node), _copied_from(node)) for node in graph.nodes]}
    if tried.kept is not None:
        facts["wire"] = wire.describe(result, tried.kept)
    facts |= _as_dict(observe_graph(result, tried.root, tried.weights, tried.case, tried.seed))
    if tried.probe is not None and facts["outputs"] is not None:
        facts["inside"] = observe_inside(result, tried.root, tried.case, tried.seed, tried.probe)
    return facts


def observe_graph(
    result: fx.Graph | fx.GraphModule, root: nn.Module, weights: dict[int, str], case: Case, seed: int
) -> GraphFacts:
    """Record what a graph is and does.

    A bare graph takes its submodules and weights from ``root``; ``case`` and ``seed`` provide the inputs.
    """
    try:
        module = result if isinstance(result, _GraphModule) else _GraphModule(root, result)
    except (TimeUp, MemoryError):
        raise
    except BaseException as error:
        return _GraphFacts(graph=record(result), run_error=_error_text(error))
    return _GraphFacts(
        graph=record(module),
        shared={name: weights.get(id(held)) for name, held in named(module)},
        modules=[path for path, _ in module.named_modules(remove_duplicate=False) if path],
        **_run(module, case, seed),
    )


def observe_inside(
    result: fx.Graph | fx.GraphModule, root: nn.Module, case: Case, seed: int, draw: int
) -> list[Value] | None:
    """The value of each node of a graph that runs, for one draw of inputs; otherwise like :func:`observe_graph`."""
    try:
        module = result if isinstance(result, _GraphModule) else _GraphModule(root, result)
        return values_inside(module, inputs_of(case, seed)[draw], seed, draw)
    except (TimeUp, MemoryError):
        raise
    except BaseException:
        return None


def _run(module: fx.GraphModule, case: Case, seed: int) -> dict[str, Any]:
    """Run the graph; return its outputs, or the error and the node that raised it.

    An output that cannot be encoded raises. This is a fault in the check, unless the output is the learner's own
    object.
    """
    outputs = None
    try:
        outputs = run_on(module.forward, inputs_of(case, seed), seed)
        return {"outputs": [encode(output) for output in outputs]}
    except (TimeUp, MemoryError):
        raise
    except BaseException as error:
        if outputs is not None and describe(error)["line"] is None:
            raise
        told = _error_text(error)
        return {"run_error": told, "run_node": _failing_node(module, case, seed, told)}


class _Reached(_Interpreter):
    node: fx.Node | None = None

    def run_node(self, n: fx.Node) -> Any:
        self.node = n
        return super().run_node(n)


def _failing_node(module: fx.GraphModule, case: Case, seed: int, told: str) -> int | None:
    """The index of the node that raises, if running node by node raises an error of the same type."""
    interpreter = _Reached(module)
    interpreter.extra_traceback = False
    try:
        run_on(interpreter.run, inputs_of(case, seed), seed)
    except (TimeUp, MemoryError):
        raise
    except BaseException as error:
        # The messages may differ: lists among the arguments of a node are immutable only in the graph.
        if interpreter.node is not None and told.startswith(f"{type(error).__name__}:"):
            return list(module.graph.nodes).index(interpreter.node)
    return None


def _error_text(error: BaseException) -> str:
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
    """Reject a function that cannot take these arguments, so that its body is not blamed for a TypeError."""
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


def _copied_from(node: fx.Node) -> int | None:
    origin = node.meta.get(ORIGIN) if isinstance(node.meta, dict) else None
    return origin if isinstance(origin, int) else None


@contextlib.contextmanager
def _interrupted_after(seconds: float) -> Iterator[None]:
    """Raise :class:`TimeUp` in the body when time is up, if this thread can be interrupted."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        # Only one timer may fire, and only once, so that the cleanup after the answer is not interrupted.
        set_timers(0)
        raise TimeUp

    def set_timers(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds * WALL_PER_PROCESSOR_SECOND)

    previous = {number: signal.signal(number, ring) for number in (signal.SIGPROF, signal.SIGALRM, signal.SIGXCPU)}
    set_timers(seconds)
    try:
        yield
    finally:
        set_timers(0)
        for number, handler in previous.items():
            signal.signal(number, handler)


class _Bounded(io.TextIOBase):
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
