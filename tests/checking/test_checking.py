"""``check`` gives a report whatever an answer does, stops endless answers, and leaves this process unchanged."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import importlib
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest
import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassBase, PassResult

import fxbook.observing.observe
from fxbook import catalogue, check, draw
from fxbook.cases import Case, Exercise, eager, traced
from fxbook.checking import check_with
from fxbook.checking.judge import judge
from fxbook.checking.report import Report
from fxbook.checking.symptom import entry_of
from fxbook.observing import forked
from fxbook.observing.guard import Guard
from fxbook.observing.observe import observe
from fxbook.observing.prepare import prepare
from fxbook.rules.predicates import lints, recompiled, same_result
from fxbook.rules.rule import Rule
from press import ROOT
from press.printing.kernels import own_socket
from tests.checking.exercise_for_tests import (
    DEEP,
    RELU_AFTER_LINEAR,
    SHALLOW,
    Stack,
    an_exercise,
    changed,
    right,
    value_is,
)

SAME = an_exercise("99-same", "pass", (SHALLOW, DEEP), (lints, recompiled, same_result))
# The exercise with a short time limit, for endless answers.
BRIEF = changed(RELU_AFTER_LINEAR, seconds=0.5)


def checked(exercise: Exercise, answer: Any) -> Report:
    """The report, always with the same seed."""
    return check_with(exercise, answer, seed=1)


@pytest.fixture
def long_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give an interrupted child enough time to report, even on a slow machine."""
    monkeypatch.setattr("fxbook.checking.verify.GRACE_SECONDS", 20.0)


# ---- answers that misbehave ------------------------------------------------------------------------------------------


def raises(kind: type[BaseException]) -> Callable[[Any], None]:
    def answer(_module: Any) -> None:
        raise kind("what went wrong")

    return answer


def loops(_module: Any) -> None:
    while True:
        pass


def sleeps(_module: Any) -> None:
    time.sleep(3600)


def sleeps_deaf(_module: Any) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
    time.sleep(3600)


def loops_and_swallows(_module: Any) -> None:
    while True:
        try:
            while True:
                time.sleep(0.01)
        except BaseException:
            continue


def loops_deaf(_module: Any) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
    while True:
        pass


def recurses(module: Any) -> Any:
    return recurses(module)


def recurses_without_limit(module: Any) -> Any:
    sys.setrecursionlimit(10**9)

    class Deep:
        def __repr__(self) -> str:
            return repr(self)

    return repr(Deep())


def allocates_tensors(_module: Any) -> None:
    held = []
    while True:
        held.append(torch.empty(10**7))


def allocates_bytes(_module: Any) -> None:
    held: list[Any] = []
    while True:
        held.append(bytearray(10**7))


def exits(_module: Any) -> None:
    os._exit(0)


def kills_itself(_module: Any) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def closes_everything(_module: Any) -> None:
    os.closerange(0, 1000)


def floods(_module: Any) -> None:
    for descriptor in range(3, 64):
        try:
            os.set_blocking(descriptor, stat.S_ISFIFO(os.fstat(descriptor).st_mode))
            while stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                os.write(descriptor, b"\0" * (1 << 20))
        except OSError:
            continue


def takes_nothing() -> None:
    pass


class NotCallable:
    """A class that cannot be called as a function."""


class NeedsArguments:
    def __init__(self, family: str) -> None:
        self.family = family

    def __call__(self, module: Any) -> None: ...


OUT_OF_MEMORY = "more memory than an answer may use (256 MiB)"
ENDLESS = {
    "loops": loops,
    "loops and swallows": loops_and_swallows,
    "loops, deaf to signals": loops_deaf,
    "sleeps": sleeps,
    "sleeps, deaf to signals": sleeps_deaf,
}
HOSTILE: dict[str, tuple[Any, str, str]] = {
    "raises an error": (raises(ValueError), "ends well", "raises ValueError: what went wrong"),
    "raises SystemExit": (raises(SystemExit), "ends well", "raises SystemExit"),
    "raises KeyboardInterrupt": (raises(KeyboardInterrupt), "ends well", "raises KeyboardInterrupt"),
    "raises GeneratorExit": (raises(GeneratorExit), "ends well", "raises GeneratorExit"),
    "recurses": (recurses, "ends well", "raises RecursionError"),
    "recurses without limit": (recurses_without_limit, "ends well", "Your code"),
    "allocates tensors": (allocates_tensors, "ends well", OUT_OF_MEMORY),
    "allocates bytes": (allocates_bytes, "ends well", OUT_OF_MEMORY),
    "exits": (exits, "ends well", "ended the Python process"),
    "crashes": (kills_itself, "ends well", "crashed the Python process"),
    "closes every file": (closes_everything, "ends well", "closed or flooded the channel"),
    "floods the pipe": (floods, "ends well", "closed or flooded the channel"),
    "returns another module": (lambda module: Stack(2, 1), "right kind", "returns an nn.Module that is not traced"),
    "takes nothing": (takes_nothing, "usable", "called with 1 argument (GraphModule), but takes 0"),
    "is None": (None, "usable", "is None: pass your function itself"),
    "is a str": ("right", "usable", "of type str: pass your function itself"),
    "is a module": (Stack(4, 2), "usable", "which your function returned: pass the function itself"),
    "is a graph": (fx.Graph(), "usable", "is a Graph, which your function returned"),
    "is a class of modules": (Stack, "usable", "the class `Stack`, a module"),
    "is a class that cannot be called": (NotCallable, "usable", "has no __call__"),
    "is a class that needs arguments": (NeedsArguments, "usable", "pass an instance, `NeedsArguments(…)`"),
}


@pytest.fixture
def unharmed() -> Iterator[None]:
    """Assert after the test that this process is unchanged and that a right answer passes."""
    guard, threads, state = Guard(), threading.active_count(), torch.get_rng_state()
    yield
    assert guard.replaced() == []
    assert threading.active_count() == threads
    assert torch.equal(torch.get_rng_state(), state)
    assert checked(RELU_AFTER_LINEAR, right).passed


@pytest.mark.skipif(not forked.CAN_FORK, reason="without fork nothing is protected")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answer_gets_its_report(name: str, unharmed: None) -> None:
    answer, rule, part = HOSTILE[name]
    report = checked(RELU_AFTER_LINEAR, answer)
    assert report.violated == rule
    assert part in report.message
    assert "Traceback" not in repr(report) + report._repr_html_()


@pytest.mark.skipif(not forked.CAN_FORK, reason="without fork nothing is protected")
@pytest.mark.parametrize("name", ENDLESS)
def test_endless_answer_is_ended(name: str, unharmed: None) -> None:
    report = checked(BRIEF, ENDLESS[name])
    assert report.violated == "ends well"
    assert "may loop for ever" in report.message
    assert "Traceback" not in repr(report) + report._repr_html_()


@pytest.mark.skipif(not forked.CAN_FORK, reason="without fork nothing is protected")
def test_waiting_uses_up_no_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("forked", "observe"):
        monkeypatch.setattr(f"fxbook.observing.{module}.WALL_PER_PROCESSOR_SECOND", 600)

    def answer(module: fx.GraphModule) -> Any:
        time.sleep(1)
        return right(module)

    assert checked(changed(RELU_AFTER_LINEAR, seconds=2.0), answer).passed


def test_error_names_the_learners_line() -> None:
    def answer(module: fx.GraphModule) -> None:
        module.graph.erase_node(next(iter(module.graph.nodes)))

    report = checked(RELU_AFTER_LINEAR, answer)
    assert "RuntimeError: Tried to erase Node x" in report.message
    assert report.verdict.line == "module.graph.erase_node(next(iter(module.graph.nodes)))"
    assert "In your code: `module.graph.erase_node" in repr(report)


@pytest.mark.usefixtures("long_grace")
def test_endless_loop_names_the_running_line() -> None:
    assert checked(BRIEF, loops).verdict.line in ("while True:", "pass")


def loads_a_compiler(_module: Any) -> None:
    sys.modules.update((f"part_{number}", types.ModuleType(f"part_{number}")) for number in range(100))
    loops(None)


@pytest.mark.usefixtures("long_grace")
@pytest.mark.skipif(not forked.CAN_FORK, reason="the modules would stay")
def test_loading_the_compiler_is_no_endless_loop() -> None:
    message = checked(changed(BRIEF, seconds=3.0), loads_a_compiler).message
    assert "while torch was loading its compiler" in message and "loop" not in message


def test_megabyte_of_print_is_cut_and_stays_off_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    def answer(module: fx.GraphModule) -> str:
        print("spam " * 200_000)
        print("to stderr", file=sys.stderr)
        os.system("echo from a shell")
        return "not a graph"

    report = checked(RELU_AFTER_LINEAR, answer)
    assert len(report.verdict.printed) < 5000
    assert "more characters" in report.verdict.printed
    assert "It printed: spam spam" in repr(report)
    assert len(repr(report)) < 500
    assert capfd.readouterr() == ("", "")


def test_input_does_not_wait() -> None:
    report = checked(RELU_AFTER_LINEAR, lambda module: input("your name?"))
    assert "input() cannot ask anybody" in report.message


def patches_torch(module: fx.GraphModule) -> None:
    fx.Graph.lint = lambda self: None  # type: ignore[method-assign]
    nn.Module.__call__ = lambda self, x: x  # type: ignore[method-assign,assignment]
    torch.relu = torch.sin
    right(module)


def patches_the_checks(module: fx.GraphModule) -> None:
    for place in (fxbook.rules.predicates, fxbook.rules.view):  # type: ignore[attr-defined]
        for name in list(vars(place)):
            if callable(getattr(place, name)):
                setattr(place, name, lambda *_: None)
    json.dumps = lambda *_: "{}"  # type: ignore[assignment]
    right(module)


def patches_what_ends_the_child(module: fx.GraphModule) -> None:
    os._exit = lambda *_: None  # type: ignore[assignment]
    os.write = lambda *_: 1 << 30  # type: ignore[assignment]
    sys.exit = lambda *_: None  # type: ignore[assignment]
    right(module)


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        (patches_torch, "Your code replaces `torch."),
        (patches_the_checks, "Your code replaces `fxbook.rules.predicates."),
    ],
)
def test_patches_are_reported_and_stay_in_the_child(answer: Any, part: str) -> None:
    guard = Guard()
    report = checked(RELU_AFTER_LINEAR, answer)
    assert report.violated == "leaves torch alone"
    assert part in report.message
    assert guard.replaced() == []
    assert json.dumps({}) == "{}"
    assert check_with(RELU_AFTER_LINEAR, right).passed


def compiles(module: fx.GraphModule) -> None:
    torch.compile(nn.Linear(2, 2), backend="eager")(torch.ones(2, 2))
    right(module)


def compiles_and_wraps_another(module: fx.GraphModule) -> None:
    compiles(module)
    theirs = nn.Module.__init__
    cell = types.CellType(lambda self, *_, **__: None)
    nn.Module.__init__ = types.FunctionType(theirs.__code__, theirs.__globals__, "ours", None, (cell,))  # type: ignore


def compiles_and_wraps_itself(module: fx.GraphModule) -> None:
    compiles(module)
    theirs = fx.Tracer.trace
    fx.Tracer.trace = lambda *args, **kwargs: theirs(*args, **kwargs)  # type: ignore[method-assign]


def test_dynamo_wrappers_are_no_patches() -> None:
    importlib.import_module("torch._dynamo")
    assert check_with(RELU_AFTER_LINEAR, compiles, seed=1).passed
    for answer, part in (
        (compiles_and_wraps_another, "torch.nn.Module.__init__"),
        (compiles_and_wraps_itself, "torch.fx.Tracer.trace"),
    ):
        report = check_with(RELU_AFTER_LINEAR, answer, seed=1)
        assert report.violated == "leaves torch alone"
        assert f"Your code replaces `{part}`" in report.message


NO_AUTOGRAD = "Unable to handle autograd's threading in combination with fork-based multiprocessing"


@pytest.mark.parametrize("caught", [False, True])
def test_answer_needing_autograd_is_judged_in_the_notebook(caught: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.backends.cuda.is_built", lambda: True)
    here = os.getpid()

    def backward(*_: Any, **__: Any) -> None:
        if os.getpid() != here:
            raise RuntimeError(NO_AUTOGRAD)

    def answer(module: fx.GraphModule) -> None:
        with contextlib.suppress(RuntimeError if caught else ()):
            torch.ones(1, requires_grad=True).backward()
            right(module)

    # This happens in the child of a parent that has started autograd's threads.
    monkeypatch.setattr(torch.autograd, "backward", backward)
    assert checked(RELU_AFTER_LINEAR, answer).passed


def patches_torch_and_loops(module: fx.GraphModule) -> None:
    torch.relu = torch.sin
    loops(module)


def test_tracing_patches_are_not_blamed_on_a_timeout() -> None:
    report = checked(BRIEF, patches_torch_and_loops)
    assert report.violated == "ends well"
    assert "still running when time ran out" in report.message


def test_child_ends_even_if_the_functions_that_end_it_are_patched() -> None:
    before = os.getpid()
    assert checked(RELU_AFTER_LINEAR, patches_what_ends_the_child).passed
    assert os.getpid() == before


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc")
def test_processes_that_the_answer_started_are_ended(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def answer(_module: Any) -> None:
        if not note.exists():  # In the first case only.
            note.write_text(str(subprocess.Popen(["sleep", "3600"]).pid))

    assert not checked(RELU_AFTER_LINEAR, answer).passed
    started = Path("/proc") / note.read_text() / "stat"
    while is_running(started):
        time.sleep(0.01)


def is_running(process: Path) -> bool:
    """Whether the process of ``/proc/…/stat`` is still running."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return process.read_text().split()[2] != "Z"
    return False


def test_no_child_and_no_file_is_left_behind() -> None:
    held, children = len(list(Path("/proc/self/fd").iterdir())), children_of(os.getpid())
    for answer in (right, exits, closes_everything, floods):
        checked(RELU_AFTER_LINEAR, answer)
    assert len(list(Path("/proc/self/fd").iterdir())) == held
    assert children_of(os.getpid()) == children


def children_of(process: int) -> set[int]:
    """The children of a process, including ended ones that it has not waited for."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return {int(child) for task in tasks for child in (task / "children").read_text().split()}


def test_answer_from_a_thread_is_checked_too() -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(checked(RELU_AFTER_LINEAR, right)))
    thread.start()
    thread.join()
    assert found[0].passed


def test_child_of_a_process_that_used_torch_threads_does_not_hang() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        torch.randn(600, 600).matmul(torch.randn(600, 600)).exp().sum()
        wide = dataclasses.replace(DEEP, build=lambda: Stack(600, 2), inputs=lambda: (torch.randn(300, 600),))
        report = checked(changed(RELU_AFTER_LINEAR, cases=(wide,)), right)
    finally:
        torch.set_num_threads(threads)
    assert report.passed, repr(report)


# ---- without fork ----------------------------------------------------------------------------------------------------


@pytest.fixture
def no_fork(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(forked, "CAN_FORK", False)
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("forked"))
    yield


def test_without_fork_the_report_says_what_is_not_protected(no_fork: None) -> None:
    report = checked(RELU_AFTER_LINEAR, right)
    assert report.passed
    assert "nothing stops an endless loop or limits memory" in repr(report)
    assert "nothing stops an endless loop or limits memory" in report._repr_html_()


@pytest.mark.parametrize("kind", [ValueError, SystemExit, KeyboardInterrupt, GeneratorExit])
def test_without_fork_errors_are_reported(no_fork: None, kind: type[BaseException]) -> None:
    assert f"raises {kind.__name__}" in checked(RELU_AFTER_LINEAR, raises(kind)).message


def test_without_fork_patches_are_put_back(no_fork: None) -> None:
    guard = Guard()
    assert checked(RELU_AFTER_LINEAR, patches_torch).violated == "leaves torch alone"
    assert guard.replaced() == []
    assert checked(RELU_AFTER_LINEAR, right).passed


# ---- answers of every useful kind ------------------------------------------------------------------------------------


class Callable_(PassBase):  # noqa: N801
    """A torch.fx pass: its instance is called and returns a PassResult."""

    def call(self, graph_module: fx.GraphModule) -> PassResult:
        return PassResult(graph_module, False)


class Rewriter(fx.Transformer):
    """A transformer that changes nothing."""


class Method:
    def trace(self, model: nn.Module) -> fx.GraphModule:
        return fx.symbolic_trace(model)


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (eager, fx.symbolic_trace),
        (eager, Method().trace),
        (eager, lambda model: fx.symbolic_trace(model)),
        (traced, Callable_()),
        (traced, Callable_),
        (traced, Rewriter),
    ],
    ids=["function", "method", "lambda", "instance", "class", "transformer"],
)
@pytest.mark.parametrize("call", [None, lambda answer, module: answer(module)], ids=["called", "used"])
def test_right_answer_of_any_useful_kind_passes(given: Any, answer: Any, call: Any) -> None:
    report = checked(changed(SAME, given=given, call=call), answer)
    assert report.passed, repr(report)


@pytest.mark.parametrize(
    "returned",
    [lambda m: m, lambda m: None, lambda m: 3, lambda m: (m, 3), lambda m: Stack, lambda m: fx.Graph()],
)
def test_return_value_of_an_edit_is_ignored(returned: Any) -> None:
    def answer(module: fx.GraphModule) -> Any:
        right(module)
        return returned(module)

    assert checked(RELU_AFTER_LINEAR, answer).passed


def test_object_is_checked_and_function_is_rejected() -> None:
    exercise = an_exercise("99-object", "object", (SHALLOW,), (lints, recompiled))
    module = fx.symbolic_trace(Stack(4, 2))
    assert checked(exercise, module).passed
    module.graph.call_function(torch.relu, ())
    assert checked(exercise, module).violated == "lints" or checked(exercise, module).violated == "recompiled"
    assert "which was not called" in checked(exercise, fx.symbolic_trace).message
    assert "pass an fx.Graph or an fx.GraphModule" in checked(exercise, 3).message


def test_computed_value_is_compared_under_the_exercises_use() -> None:
    count = an_exercise("99-count", "compute", (SHALLOW, DEEP), (value_is(lambda m: len(m.graph.nodes)),), given=traced)
    assert checked(count, lambda module: len(list(module.graph.nodes))).passed
    assert "it is a different number" in checked(count, lambda module: 7).message
    by_attribute = changed(count, call=lambda answer, module: answer["count"](module))
    assert checked(by_attribute, {"count": lambda module: len(module.graph.nodes)}).passed


# ---- the two halves --------------------------------------------------------------------------------------------------


def test_observation_is_json_and_the_judge_reads_only_that() -> None:
    observation = observe(prepare(RELU_AFTER_LINEAR, 5), right)
    travelled = json.loads(json.dumps(observation))
    assert json.dumps(travelled) == json.dumps(observation)
    assert judge(RELU_AFTER_LINEAR, travelled, 5).passed


def test_both_halves_are_determined_by_the_seed() -> None:
    observations = [json.dumps(observe(prepare(RELU_AFTER_LINEAR, seed), right)) for seed in (5, 5, 6)]
    assert observations[0] == observations[1]
    assert observations[0] != observations[2]
    outputs = [json.loads(text)["cases"][0]["outputs"] for text in observations]
    assert outputs[0] != outputs[2]
    assert outputs[0][0] != outputs[0][1], "the two draws of inputs are the same"


def test_judge_rejects_outputs_made_with_another_seed() -> None:
    observation = observe(prepare(RELU_AFTER_LINEAR, 5), right)
    assert judge(RELU_AFTER_LINEAR, observation, 6).violation.rule == "same_result"  # type: ignore[union-attr]


def test_a_new_layer_does_not_have_the_weights_of_the_given_one() -> None:
    def with_new_layers(gm: fx.GraphModule) -> None:
        right(gm)
        for name, layer in list(gm.named_modules()):
            if isinstance(layer, nn.Linear):
                gm.set_submodule(name, nn.Linear(layer.in_features, layer.out_features))

    report = checked(RELU_AFTER_LINEAR, with_new_layers)
    assert report.violated == "same_result", repr(report)


def test_check_takes_a_fresh_seed_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FXBOOK_SEED", raising=False)
    seen = [check_with(RELU_AFTER_LINEAR, right), check_with(RELU_AFTER_LINEAR, right)]
    assert all(report.passed for report in seen)
    drawn: list[int] = []
    exercise = changed(RELU_AFTER_LINEAR, rules=(Rule("draws", lambda case: drawn.append(case.seed) or iter(())),))
    check_with(exercise, right)
    check_with(exercise, right)
    assert len(set(drawn)) == len(drawn) == 4


def _paths(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, item in items:
        if not (isinstance(key, int) and key > 2):
            yield from _paths(item, (*path, key))


@pytest.mark.parametrize("forged", [None, 3, -1, "x", [], {}, [[]], {"node": 99}, 1e400], ids=repr)
def test_judge_survives_any_json(forged: Any) -> None:
    observation = observe(prepare(RELU_AFTER_LINEAR, 5), right)
    for path in list(_paths(observation)):
        changed: Any = copy.deepcopy(observation)
        if not path:
            changed = forged
        else:
            holder = changed
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = forged
        report = Report(ABOUT, judge(RELU_AFTER_LINEAR, changed, 5))
        assert repr(report) and report._repr_html_()


def test_hard_coded_answer_is_recognised() -> None:
    def answer(module: fx.GraphModule) -> None:
        for name in ("layers_0", "layers_1"):
            node = next(node for node in module.graph.nodes if node.name == name)
            with module.graph.inserting_after(node):
                relu = module.graph.call_function(torch.relu, (node,))
            node.replace_all_uses_with(relu, delete_user_cb=lambda user, relu=relu: user is not relu)
        module.recompile()

    report = checked(RELU_AFTER_LINEAR, answer)
    assert report.message.startswith(
        "Your answer works for the model you know, but not for another (five layers): the result"
    )
    assert report.node.name == "layers_3"


def test_error_on_another_model_says_so() -> None:
    def answer(module: fx.GraphModule) -> None:
        right(module)
        if len(module.graph.nodes) > 8:
            raise NotImplementedError("only small models")

    message = checked(RELU_AFTER_LINEAR, answer).message
    assert message.startswith("Your answer works for the model you know, but not for another (five layers): ")
    assert "NotImplementedError: only small models" in message


def test_check_that_fails_itself_says_so() -> None:
    broken = changed(RELU_AFTER_LINEAR, rules=(Rule("divides", lambda case: 1 / 0),))
    report = checked(broken, right)
    assert not report.passed
    assert f"{ITSELF} (ZeroDivisionError" in report.message


ITSELF = f"The check itself failed with torch {torch.__version__}: the error is in fxbook, not in your code"
NO_NAME = "AttributeError: module has no attribute '_BoxedCodeGen'"
COMPUTE = an_exercise("99-compute", "compute", (SHALLOW, DEEP), (value_is(lambda module: 1),), given=traced)


def of_fxbook(source: str, **names: Any) -> Callable[..., Any]:
    """Make the function `fails` from source that seems to come from a file of fxbook, not from the learner."""
    exec(compile(source, str(ROOT / "fxbook" / "checking" / "observe.py"), "exec"), names)
    return names["fails"]


RAISES = "def fails(*_, **__):\n    raise AttributeError(\"module has no attribute '_BoxedCodeGen'\")"


@pytest.mark.parametrize(
    "can_fork", [pytest.param(True, marks=pytest.mark.skipif(not forked.CAN_FORK, reason="no fork")), False]
)
@pytest.mark.parametrize(
    "place", ["record", "encode", "caller", "_GlobalStateSnapshot.side_effects", "_GlobalStateSnapshot.__init__"]
)
def test_error_of_the_check_itself_is_not_the_learners(
    place: str, can_fork: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forked, "CAN_FORK", can_fork)
    monkeypatch.setattr(f"fxbook.observing.observe.{place}", of_fxbook(RAISES))
    for exercise, answer in ((RELU_AFTER_LINEAR, right), (COMPUTE, lambda module: 1)):
        report = checked(exercise, answer)
        if exercise is COMPUTE and place == "record":
            assert report.passed
        else:
            assert (report.violated, report.verdict.line) == ("the check works", None)
            assert report.message == f"{ITSELF} ({NO_NAME}). Please report it."


def test_error_of_the_check_itself_has_no_advice_for_the_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fxbook.observing.observe.encode", of_fxbook(RAISES))
    exercise = changed(COMPUTE, on_error=lambda trial, kind: "Look at the users.")
    assert "users" not in checked(exercise, lambda module: 1).message


def test_failed_case_does_not_affect_blame_in_the_next() -> None:
    turn = fxbook.observing.observe._Turn()
    with pytest.raises(ZeroDivisionError):
        turn.call(lambda: 1 / 0, ())
    assert not turn.is_own(ZeroDivisionError(), None)
    turn.begin()
    assert turn.is_own(AttributeError(), None)


def draws_with_a_number(module: Any) -> Any:
    """A learner's mistake that raises inside fxbook."""
    return draw(module, "everything", 3)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (draws_with_a_number, "Your code raises AttributeError: 'int' object has no attribute"),
        (functools.partial(draw, 1, 2, 3), "Your code raises TypeError: "),
        (len, "Your code raises TypeError: object of type 'Stack' has no len()"),
        (torch.relu, "Your code raises TypeError: relu(): argument 'input'"),
        (of_fxbook(RAISES), f"Your code raises {NO_NAME}"),
        (lambda module: torch.relu(module), "Your code raises TypeError: relu(): argument 'input'"),
    ],
)
@pytest.mark.parametrize("exercise", [RELU_AFTER_LINEAR, COMPUTE], ids=lambda exercise: exercise.id)
def test_error_in_what_the_answer_calls_is_the_learners(exercise: Exercise, answer: Any, message: str) -> None:
    report = checked(exercise, answer)
    assert report.violated == "ends well"
    assert report.message.startswith(message)


@pytest.mark.parametrize(
    "can_fork", [pytest.param(True, marks=pytest.mark.skipif(not forked.CAN_FORK, reason="no fork")), False]
)
def test_answer_that_breaks_the_check_is_blamed(can_fork: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "CAN_FORK", can_fork)
    report = checked(RELU_AFTER_LINEAR, lambda module: object.__new__(fx.GraphModule))
    why = "AttributeError: 'GraphModule' object has no attribute 'graph'"
    assert report.violated == "ends well"
    what = f"fxbook cannot read what your code returns or changes ({why})."
    assert report.message == f"{what} If your answer is correct, please report this as a bug."


def test_memory_and_time_are_never_the_checks_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "def fails(*_, **__):\n    raise kind(message)"
    for kind, message in ((MemoryError, ""), (RuntimeError, "DefaultCPUAllocator: can't allocate memory")):
        monkeypatch.setattr("fxbook.observing.observe.encode", of_fxbook(source, kind=kind, message=message))
        assert "asked for more memory" in checked(COMPUTE, lambda module: 1).message
    monkeypatch.setattr("fxbook.observing.observe.encode", of_fxbook("def fails(*_):\n    while True:\n        pass"))
    brief = changed(COMPUTE, seconds=BRIEF.usage.seconds)
    assert "still running when time ran out" in checked(brief, lambda module: 1).message


# ---- reports, ids, hints ---------------------------------------------------------------------------------------------


def self_loop(module: fx.GraphModule) -> None:
    node = next(iter(module.graph.find_nodes(op="call_module", target="layers.0")))
    with module.graph.inserting_after(node):
        relu = module.graph.call_function(torch.relu, (node,))
    node.replace_all_uses_with(relu)


ABOUT = catalogue.About(
    "99-relu-after-linear",
    "Relu after <each> linear",
    read="02_insertion_points#two-nodes-one-anchor",
    what_if="Now `gelu`?",
    hints=("A direction.", "Nearly all."),
)


@pytest.fixture
def in_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "catalogue", lambda: {ABOUT.id: ABOUT})
    monkeypatch.setattr(catalogue, "_given", {})


def test_failed_report_has_task_violation_node_and_place(
    in_catalogue: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT / "exercises")
    report = checked(RELU_AFTER_LINEAR, self_loop)
    assert repr(report).splitlines() == [
        "99-relu-after-linear (Relu after <each> linear): not yet.",
        "The graph is broken: node `relu` uses itself.",
        "Your graph:",
        "    0  x         placeholder    x",
        "    1  layers_0  call_module    self.layers.0(x)",
        "!   2  relu      call_function  torch.relu(relu)",
        "    3  layers_1  call_module    self.layers.1(relu)",
        "    4  output    output         return layers_1",
        "Read: chapter 02, insertion points, section “Two nodes, one anchor” (chapters/02_insertion_points.ipynb)",
    ]
    html = report._repr_html_()
    assert 'href="../chapters/02_insertion_points.ipynb#heading=Two-nodes,-one-anchor"' in html, (
        "the anchor that JupyterLab uses"
    )
    assert "Relu after &lt;each&gt; linear" in html
    assert "<each>" not in html
    assert 'class="fx-report fx-failed" role="group" aria-label="Report on ' in html
    assert "fx-broken" in html
    # In a folder without the chapters, the report must have no broken links.
    monkeypatch.chdir(tmp_path)
    assert "href=" not in report._repr_html_() and "Two nodes, one anchor" in report._repr_html_()


def test_passed_report_is_one_line_and_the_what_if(in_catalogue: None) -> None:
    report = checked(RELU_AFTER_LINEAR, right)
    assert repr(report) == ("99-relu-after-linear (Relu after <each> linear): solved.\nWhat if: Now `gelu`?")
    assert "<code>gelu</code>" in report._repr_html_()


@pytest.mark.parametrize("answer", [right, self_loop, loops, raises(ValueError)])
def test_report_is_the_same_whatever_the_seed(answer: Any) -> None:
    exercise = BRIEF if answer is loops else RELU_AFTER_LINEAR
    first, second = check_with(exercise, answer, seed=1), check_with(exercise, answer, seed=2)
    if answer is not loops:  # The loop may be interrupted at either of its lines.
        assert repr(first) == repr(second)
    assert first.message == second.message


def test_long_graph_is_cut_around_the_node() -> None:
    exercise = changed(RELU_AFTER_LINEAR, cases=(dataclasses.replace(DEEP, build=lambda: Stack(6, 40)),))

    def answer(module: fx.GraphModule) -> None:
        right(module)
        node = module.graph.find_nodes(op="call_module", target="layers.20")[0]
        node.next.args = (node.prev,)
        module.recompile()

    text = repr(checked(exercise, answer))
    assert "?  41  layers_20" in text
    assert "more above" in text and "more below" in text
    assert len(text.splitlines()) < 20


@pytest.mark.parametrize("wanted", ["02-clamp-the-outptu", "99-nothing", "nothing", "", 3, None])
def test_unknown_id_suggests_similar_ids(wanted: Any) -> None:
    report = check(wanted, right)
    assert not report.passed
    assert report.violated == "known id"
    if wanted == "02-clamp-the-outptu":
        assert "There is no exercise '02-clamp-the-outptu'. Did you mean: '02-clamp-the-output'" in report.message
    elif isinstance(wanted, str):
        assert f"There is no exercise {wanted!r}." in report.message
    else:
        assert "named by its id, a str" in report.message


def test_hints_come_one_by_one_and_the_last_stays(in_catalogue: None) -> None:
    shown = [repr(catalogue.hint(ABOUT.id)) for _ in range(3)]
    first, second = "Hint 1 of 2: A direction.", "Hint 2 of 2: Nearly all."
    assert shown == [first, second, "Hint 2 of 2, the last hint: Nearly all."]
    assert "Did you mean: '99-relu-after-linear'" in repr(catalogue.hint("99-relu-after-liner"))
    assert "named by its id" in repr(catalogue.hint(3))  # type: ignore[arg-type]


def test_exercises_are_read_without_torch() -> None:
    code = "import sys, fxbook; fxbook.hint('99-x'); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_exercise_needs_cases_and_an_unseen_model() -> None:
    with pytest.raises(ValueError, match="at least one Case"):
        an_exercise("99-x", "build", (), ())
    with pytest.raises(ValueError, match="has not seen"):
        an_exercise("99-x", "edit", (SHALLOW,), ())


# ---- in a notebook ---------------------------------------------------------------------------------------------------


def test_kernel_survives_every_answer() -> None:
    setup = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    setup += "from tests.checking.test_checking import *\nfrom fxbook import draw"
    cells = [
        setup,
        "check_with(RELU_AFTER_LINEAR, right)",
        "def shows(module):\n    display(draw(module))\n    print('spam')\n    right(module)\n"
        "print(check_with(RELU_AFTER_LINEAR, shows).passed)",
        "check_with(BRIEF, loops)",
        "for answer in (exits, closes_everything, kills_itself, floods, patches_torch, raises(SystemExit)):\n"
        "    print(check_with(RELU_AFTER_LINEAR, answer).passed)",
        "def typed(module):\n    raise ValueError('typed in a cell')\nprint(check_with(RELU_AFTER_LINEAR, typed))",
        "check_with(RELU_AFTER_LINEAR, right).passed",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, kernel_name="python3", config=own_socket()).execute()
    outputs = [cell.outputs for cell in notebook.cells]
    assert outputs[1][0]["data"]["text/plain"] == "99-relu-after-linear: solved."
    assert "fx-passed" in outputs[1][0]["data"]["text/html"]
    assert [output["text"] for output in outputs[2]] == ["True\n"]
    assert "may loop for ever" in outputs[3][0]["data"]["text/plain"]
    assert "".join(output["text"] for output in outputs[4]) == "False\n" * 6
    assert "In your code: `raise ValueError('typed in a cell')`" in outputs[5][0]["text"]
    assert outputs[6][0]["data"]["text/plain"] == "True"


IN_A_NEW_PROCESS = """
import contextlib, sys
from torch import fx
from tests.checking.exercise_for_tests import RELU_AFTER_LINEAR
from fxbook.checking import check_with

def fails_twice(module):
    for run in (module, fx.Interpreter(module).run):
        with contextlib.suppress(Exception):
            run("no tensor")
    assert "torch._dynamo" not in sys.modules, "the compiler was loaded"

report = check_with(RELU_AFTER_LINEAR, fails_twice)
assert report.violated and "the compiler was loaded" not in report.message, report
"""


def test_an_error_in_a_graph_does_not_load_the_compiler() -> None:
    command = [sys.executable, "-c", IN_A_NEW_PROCESS]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("raised", "entry"),
    [
        ("RuntimeError: Argument 'b' of Node 'a' was used before it has been defined! Please check", "was-used-before"),
        ("TypeError: 'Node' object is not subscriptable", "typeerror-node-object-is-not-subscriptable"),
        ("TypeError: 'NoneType' object is not subscriptable", ""),
        ("AttributeError: 'Linear' object has no attribute 'graph'", "has-no-attribute-graph"),
        ("AttributeError: 'Linear' object has no attribute 'weights'", ""),
        ("ValueError: Argument 'b' of Node 'a' was used before it has been defined!", ""),
        ("TypeError: Model.forward() missing 1 required positional argument: 'mask'", "forward-missing-1-required"),
        ("TypeError: is_relu() missing 1 required positional argument: 'traced'", ""),
        ("TypeError: Linear.forward() takes 2 positional arguments but 3 were given", "takes-2-positional-arguments"),
        ("SyntaxError: parameter without a default follows parameter with a default", "syntaxerror-non-default"),
        ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x4 and 5x6)", ""),
        ("RuntimeError: ", ""),
        ("IndexError: list assignment index out of range", "list-assignment-index-out-of-range"),
        ("IndexError: list index out of range", ""),
    ],
)
def test_error_links_to_its_entry(raised: str, entry: str) -> None:
    found = entry_of(f"Your code raises {raised}")
    assert (entry in found) if entry else (found == "")


def test_entry_of_the_same_chapter_is_preferred() -> None:
    raised = "Your code raises TypeError: '_node_list' object is not subscriptable"
    for chapter in ("00_first_graph", "02_insertion_points"):
        assert entry_of(raised, chapter).partition("#")[0].endswith(chapter)


def test_part_one_never_links_to_part_two() -> None:
    raised = "Your code raises RuntimeError: shape '[2, 2]' is invalid for input of size 6"
    assert entry_of(raised, "01_node_creation") == entry_of(raised, "P1_one_model") == ""
    assert entry_of(raised, "12_patterns").startswith("13_retrace_and_meta#")


def test_check_works_with_gradients_switched_off() -> None:
    class NeedsGradients(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    def gradient(module: nn.Module) -> bool:
        return module(torch.ones(1, requires_grad=True)).requires_grad

    case = Case("a product", NeedsGradients, lambda: (torch.ones(1),))
    exercise = an_exercise("99-gradients", "compute", (case,), (value_is(lambda module: True),), given=eager)
    with torch.no_grad():
        assert check_with(exercise, gradient, seed=1).passed
