"""The run stepper shows the values and memory of a real run, and keeps nothing alive itself."""

from __future__ import annotations

import gc
import operator
import re
import weakref
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest
import torch
from packaging.version import Version
from pytest_regressions.file_regression import FileRegressionFixture
from torch import fx, nn

from fxbook import RunStepper
from fxbook.graph.record import record
from fxbook.stepping.run.memory import cloned
from fxbook.stepping.run.record import RunRecord, record_run
from fxbook.stepping.run.states import freed_at, size, state_after
from fxbook.stepping.run.values import describe, rounded

trace = fx.symbolic_trace
FOUR, OTHER = torch.ones(4), torch.ones(4)


class Block(nn.Module):
    """Twelve nodes with all six opcodes."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(8, 16), nn.Linear(16, 8)
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden = self.outer(torch.relu(self.inner(x))) * self.scale
        return torch.where(mask > 0, hidden, 0.0).reshape(-1).sum()


def two_inputs(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return ((a + 1) * b).relu().sum()


def ran(function: Callable | nn.Module, *inputs: Any, method: str = "run") -> tuple[RunRecord, Callable[..., Any]]:
    """The record of a run, and a function for the state of a value after a step, both by name."""
    traced = function if isinstance(function, fx.GraphModule) else trace(function)
    run, graph = record_run(traced, traced.graph, inputs, method), record(traced)  # type: ignore[arg-type]

    def state(name: str, after: str) -> Any:
        return state_after(run, graph, graph.named(name).index, graph.named(after).index)  # type: ignore[union-attr]

    return run, state


class Constant(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.ones(100)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.table


RUNS: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...], dict[str, Any]]] = {
    "run": (two_inputs, (FOUR, OTHER), {}),
    "boxed_run": (two_inputs, (FOUR, OTHER), {"boxed": True}),
    "both": (two_inputs, (FOUR, OTHER), {"compare": "boxed_run"}),
    "views": (lambda x: (x + 1).view(2, 2).t().sum(), (FOUR,), {"boxed": True}),
    "in_place": (lambda x: x.add_(1).relu_() * 2, (FOUR,), {"boxed": True}),
    "returned": (lambda x, unused: (x, x + 1), (FOUR, OTHER), {"boxed": True}),
    "stored": (Block(), (torch.ones(4, 8), torch.ones(4, 8)), {}),
    "constant": (Constant(), (torch.ones(100),), {}),
}


@pytest.mark.parametrize("name", RUNS)
@torch.no_grad()
def test_each_frame_says_what_is_alive(name: str, file_regression: FileRegressionFixture) -> None:
    """Its caption does, and its table shows the state of each value."""
    program, inputs, options = RUNS[name]
    for weight in getattr(program, "parameters", list)():
        weight.fill_(0.5)
    stepper = RunStepper(trace(program), *inputs, **options)
    frames = [part for part in tree_of(stepper).iter("div") if part.get("class") == "fx-frame"]
    lines = [words(part) for frame in frames for part in (frame.find("*"), *rows(frame))]
    lines = [line for line in lines if not line.endswith("· not yet")]
    file_regression.check("\n".join([repr(stepper), *lines, ""]), basename=name)


def rows(frame: ET.Element) -> list[ET.Element]:
    return [row for row in frame.iter("tr") if row.get("data-fx-name")]


def words(part: ET.Element) -> str:
    return " ".join(" ".join(part.itertext()).split())


def test_what_autograd_saves_is_not_freed() -> None:
    module = trace(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)))
    run, state = ran(module, torch.ones(2, 4), method="boxed_run")
    assert (state("input_1", "_0").kind, state("input_1", "_0").why) == ("kept", "autograd may need it for backward")
    assert any("torch.no_grad()" in remark for remark in run.remarks)
    with torch.no_grad():
        run, state = ran(module, torch.ones(2, 4), method="boxed_run")
    assert state("input_1", "_0").kind == "freed"
    assert not run.remarks


def test_the_recorder_keeps_nothing_alive() -> None:
    made: list[weakref.ref] = []

    class Spy(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result = x * 2
            made.extend((weakref.ref(x), weakref.ref(x.untyped_storage()), weakref.ref(result)))
            if len(x) == 5:
                raise RuntimeError("five")
            return result

    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_module("0", (graph.call_module("0", (x,)),)))
    module = fx.GraphModule(nn.Sequential(Spy()), graph)
    given = torch.ones(4)
    gc.disable()
    try:
        steppers = [RunStepper(module, given, boxed=boxed) for boxed in (True, False)]
        steppers += [RunStepper(module, given, compare="boxed_run"), RunStepper(module, torch.ones(5))]
        assert len(made) == 27  # Four runs call Spy twice; the last one raises in its first call.
        assert [ref() for ref in made] == [None] * 27
        given_ref = weakref.ref(given)
        del given
        assert given_ref() is None
    finally:
        gc.enable()
    assert all("five" not in repr(stepper) for stepper in steppers[:3])
    assert "five" in repr(steppers[3])


def test_inputs_are_copied_and_stay_unchanged() -> None:
    given = torch.ones(4, requires_grad=True)
    copies = cloned([given, [given, 3], {"key": FOUR}])
    assert copies[0] is not given
    assert copies[0] is copies[1][0]
    assert copies[0].requires_grad
    assert torch.equal(copies[2]["key"], FOUR)
    RunStepper(trace(lambda x: x.zero_()), FOUR)
    assert FOUR.sum() == 4


def test_two_runs_start_from_the_same_random_state() -> None:
    module = trace(lambda x: torch.nn.functional.dropout(x, 0.5, True))
    torch.manual_seed(0)
    stepper = RunStepper(module, torch.ones(64), compare="boxed_run")
    glimpses = [subject.run.values[1].described.glimpse for subject in stepper._subjects]  # type: ignore[union-attr]
    assert glimpses[0] == glimpses[1]


def test_two_graphs_are_compared_each_with_its_drawing() -> None:
    first, second = trace(lambda a: (a + 1).relu() * 2 - 1), trace(lambda a: (a + 1).relu_())
    stepper = RunStepper(first, FOUR, compare=second, title="In place or not")
    page = tree_of(stepper)
    keys = [part.get("data-fx-node") for part in page.iter() if part.get("data-fx-node")]
    assert {int(key) for key in keys if key} == set(range(6 + 4))
    frames = [part for part in page.iter("div") if part.get("class") == "fx-frame"]
    assert len(frames) == 6
    assert "this run has ended" in "".join(frames[-1].itertext())
    assert "second graph" in repr(stepper)


def tree_of(stepper: RunStepper) -> ET.Element:
    """The HTML of a stepper, which must be well-formed XML except for style, script and static pictures."""
    text = re.sub(r"<(style|script)>.*?</\1>|<img [^>]*>", "", stepper._repr_html_(), flags=re.DOTALL)
    return ET.fromstring(text)


def chain(x: torch.Tensor) -> torch.Tensor:
    for _ in range(998):
        x = x + 1
    return x


def test_a_large_graph_is_shown_in_groups() -> None:
    stepper = RunStepper(trace(chain), FOUR, boxed=True)
    page = stepper._repr_html_()
    assert "1000 nodes are too many to draw one by one" in page
    assert page.count('class="fx-frame"') <= 60
    assert len(page) < 400_000
    assert "and 800 more nodes" in repr(stepper)
    assert stepper._subjects[0].run.peak == 32


def boom(x: torch.Tensor) -> torch.Tensor:
    raise KeyError("no such key\nsecond line")


class Unreadable:
    def __repr__(self) -> str:
        raise ValueError("unreadable")


fx.wrap("boom")


def fails_lint() -> fx.Graph:
    graph = fx.Graph()
    sin = graph.call_function(torch.sin, (graph.placeholder("x"),))
    with graph.inserting_after(sin):
        cos = graph.call_function(torch.cos, (sin,))
        tan = graph.call_function(torch.tan, (cos,))
    graph.output(tan)
    return graph


def no_output() -> fx.Graph:
    graph = fx.Graph()
    graph.call_function(torch.sin, (graph.placeholder("x"),))
    return graph


def stale() -> fx.GraphModule:
    module = trace(lambda x: x + 1)
    add = list(module.graph.nodes)[1]
    add.target = operator.sub
    return module


def nested(x: torch.Tensor) -> dict[str, Any]:
    return {"sum": (x + 1, None), "size": x.size(0), "list": [x]}


def packed() -> fx.GraphModule:
    return trace(lambda d: {"sum": d["a"] + d["b"]}, concrete_args={"d": {"a": fx.PH, "b": fx.PH}})


# Before 2.10, torch accepts a list of inputs of any length.
COUNTS = Version(torch.__version__) >= Version("2.10")
HARD: dict[str, tuple[Callable[[], Any], tuple, dict, str]] = {
    "too few, boxed": (
        lambda: trace(two_inputs),
        (FOUR,),
        {"boxed": True},
        "No node ran: RuntimeError" if COUNTS else "No node ran: StopIteration",
    ),
    "too many": (lambda: trace(two_inputs), (FOUR, OTHER, OTHER), {}, "Interpreter.run ignores the rest"),
    "too many, boxed": (
        lambda: trace(two_inputs),
        (FOUR, OTHER, OTHER),
        {"boxed": True},
        "(extra arguments)" if COUNTS else "Interpreter.boxed_run ignores the rest",
    ),
    "shapes": (lambda: trace(two_inputs), (FOUR, torch.ones(3)), {}, "mul raised RuntimeError: The size of tensor"),
    "raises": (lambda: trace(lambda x: boom(x + 1)), (FOUR,), {}, "boom raised KeyError"),
    "fails lint": (fails_lint, (FOUR,), {}, "tan raised RuntimeError: Node tan referenced nonexistent value cos"),
    "no output": (no_output, (FOUR,), {}, "0 B when the run had returned"),
    "stale": (stale, (FOUR,), {}, "The compiled code is older"),
    "containers": (lambda: trace(nested), (FOUR,), {"boxed": True}, "dict of 3 [sum: tuple of 2"),
    "pytree": (packed, ({"a": FOUR, "b": OTHER},), {}, "list of 1 [float32 (4,)]"),
    "none and module": (lambda: trace(lambda a, b: (a, b)), (None, nn.ReLU()), {}, "torch.nn.ReLU"),
    "unreadable": (lambda: trace(lambda a, b: (a, b)), (Unreadable(), "x" * 100_000), {}, "Unreadable"),
    "on meta": (lambda: trace(two_inputs), (FOUR.to("meta"),) * 2, {}, "hold no memory"),
    "sparse": (lambda: trace(lambda x: x * 2), (torch.eye(3).to_sparse(),), {}, "their bytes are not counted"),
    "markup": (lambda: trace(lambda a: a), ("<script>alert(1)</script>",), {}, "str"),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_cases_show_what_ran_and_what_failed(name: str) -> None:
    make, inputs, options, expected = HARD[name]
    stepper = RunStepper(make(), *inputs, **options)
    text = repr(stepper)
    page = " ".join(" ".join(tree_of(stepper).itertext()).split())
    assert expected in " ".join(text.split())
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "Traceback" not in text + page
    assert "xxxxxxxxxx" * 10 not in text + page
    assert "<script>alert" not in stepper._repr_html_()
    if "raised" in expected:
        assert expected in page
        assert "! raised" in page


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ((nn.ReLU(), FOUR), TypeError, "trace the model first"),
        ((trace(two_inputs), FOUR, OTHER, {"compare": "boxed"}), ValueError, "'boxed' is not known; use 'run'"),
        ((trace(two_inputs), FOUR, OTHER, {"compare": nn.ReLU()}), ValueError, "an object of class ReLU"),
        ((trace(two_inputs), FOUR, OTHER, {"compare": "run"}), ValueError, "use 'boxed_run'"),
        ((trace(two_inputs), FOUR, OTHER, {"boxed": True, "compare": "boxed_run"}), ValueError, "use 'run'"),
    ],
)
def test_wrong_arguments_are_rejected_with_a_fix(arguments: tuple, kind: type, message: str) -> None:
    *given, last = arguments
    options = last if isinstance(last, dict) else {}
    with pytest.raises(kind, match=re.escape(message)):
        RunStepper(*(given if options else arguments), **options)


def test_glimpses_are_short_and_stable() -> None:
    assert rounded([1.0, -0.0, 0.123456, 2.5]) == ["1", "0", "0.12", "2.5"]
    assert rounded([1.0, 1e-9, -1e-9]) == ["1", "0", "0"]
    assert rounded([0.0, -0.0]) == ["0", "0"]
    assert rounded([float("nan"), float("-inf"), 2.0]) == ["nan", "-inf", "2"]
    assert describe(torch.arange(6).reshape(3, 2)).glimpse == "0 1 2 3 4 …"
    assert describe(torch.zeros(1000, 1).expand(1000, 1000)).glimpse == "0 0 0 0 0 …"
    assert describe(torch.tensor(True)).kind == "bool ()"


def test_sizes_and_frees_in_words() -> None:
    assert [size(n) for n in (0, 9_999, 10_000, 1_234_567, 40_000_000, 999_999_999)] == [
        "0 B",
        "9,999 B",
        "10 kB",
        "1.23 MB",
        "40 MB",
        "1 GB",
    ]
    traced = trace(two_inputs)
    run = record_run(traced, traced.graph, (FOUR, OTHER), "boxed_run")
    assert freed_at(run, record(traced), 3) == [("b", 16), ("add", 16)]
