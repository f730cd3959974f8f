"""The run stepper: what it says of values and memory is what happens in a run, and it keeps nothing alive itself."""

from __future__ import annotations

import gc
import gzip
import operator
import re
import weakref
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest
import torch
from packaging.version import Version
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
    """Twelve nodes, all six opcodes."""

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
    """The record of a run, and the state of a value by its name after the step of another."""
    traced = function if isinstance(function, fx.GraphModule) else trace(function)
    run, graph = record_run(traced, traced.graph, inputs, method), record(traced)  # type: ignore[arg-type]

    def state(name: str, after: str) -> Any:
        return state_after(run, graph, graph.named(name).index, graph.named(after).index)  # type: ignore[union-attr]

    return run, state


def alive_by_weakref(method: str) -> list[int]:
    """How many of two inputs are alive during each called node, found without the code under test."""
    counts, refs = [], []

    class Probe(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            if n.op != "placeholder":
                counts.append(sum(ref() is not None for ref in refs))
            return super().run_node(n)

    inputs = [torch.ones(4), torch.ones(4)]
    refs += [weakref.ref(tensor) for tensor in inputs]
    probe = Probe(trace(two_inputs))
    if method == "run":
        taken = tuple(inputs)
        inputs.clear()
        probe.run(*taken)
    else:
        probe.boxed_run(inputs)
    return counts


def test_run_keeps_its_inputs_and_boxed_run_frees_each_after_its_last_use() -> None:
    run, state = ran(two_inputs, FOUR, OTHER)
    assert run.during == (32, 32, 48, 64, 64, 52, 36)
    assert run.after == (32, 32, 48, 48, 48, 36, 36)
    assert run.left == 4
    assert [state(name, "output").kind for name in "ab"] == ["kept", "kept"]
    assert state("a", "add").why == "run's arguments hold it"
    boxed, state = ran(two_inputs, FOUR, OTHER, method="boxed_run")
    assert boxed.during == (32, 32, 48, 48, 32, 20, 4)
    assert boxed.after == (32, 32, 32, 16, 16, 4, 4)
    assert (state("a", "add").kind, state("b", "add").kind, state("b", "mul").kind) == ("freed", "alive", "freed")
    assert state("a", "output").kind == "gone"


def test_the_same_is_found_with_weak_references_alone() -> None:
    assert alive_by_weakref("run") == [2, 2, 2, 2, 2]
    assert alive_by_weakref("boxed_run") == [2, 1, 0, 0, 0]
    for method in ("run", "boxed_run"):
        _, state = ran(two_inputs, FOUR, OTHER, method=method)
        living = ("alive", "kept", "made", "waiting")
        before = ["b", "add", "mul", "relu", "sum_1"]
        assert [sum(state(name, node).kind in living for name in "ab") for node in before] == alive_by_weakref(method)


def test_a_view_shares_the_memory_of_its_base() -> None:
    run, state = ran(lambda x: (x + 1).view(2, 2).t().sum(), FOUR, method="boxed_run")
    assert run.after == (16, 16, 16, 16, 4, 4)
    assert state("view", "view").nbytes == 0
    assert state("view", "view").why == "in the memory of add"
    assert (state("add", "t").kind, state("add", "t").why, state("add", "t").nbytes) == ("shared", "in t", 16)
    assert [state(name, "sum_1").kind for name in ("x", "add", "view", "t")] == ["gone", "freed", "freed", "freed"]


def test_a_part_of_a_tuple_keeps_the_whole_storage() -> None:
    run, state = ran(lambda x: operator.getitem(x.split(2), 1) + 1, FOUR, method="boxed_run")
    assert run.after == (16, 16, 16, 8, 8)
    assert state("x", "getitem").kind == "shared"


def test_an_operation_in_place_takes_no_memory() -> None:
    run, state = ran(lambda x: x.add_(1).relu_() * 2, FOUR, method="boxed_run")
    assert run.during == (16, 16, 16, 32, 16)
    assert state("x", "relu_").why == "in relu_"
    assert "in place" in RunStepper(trace(lambda x: x.add_(1)), FOUR)._repr_html_()


def test_an_input_that_is_returned_or_not_used_stays() -> None:
    run, state = ran(lambda x, unused: (x, x + 1), FOUR, OTHER, method="boxed_run")
    assert run.after == (32, 32, 48, 48)
    assert state("unused", "output").kind == "alive"
    assert state("x", "output").kind == "shared"
    assert run.left == 32


def test_what_autograd_saves_is_not_freed() -> None:
    module = trace(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)))
    run, state = ran(module, torch.ones(2, 4), method="boxed_run")
    assert (state("input_1", "_0").kind, state("input_1", "_0").why) == ("kept", "autograd may need it for backward")
    assert any("torch.no_grad()" in remark for remark in run.remarks)
    with torch.no_grad():
        run, state = ran(module, torch.ones(2, 4), method="boxed_run")
    assert state("input_1", "_0").kind == "freed"
    assert not run.remarks


def test_parameters_buffers_and_constants_are_counted_apart() -> None:
    module = trace(Block())
    with torch.no_grad():
        run, state = ran(module, torch.ones(4, 8), torch.ones(4, 8))
    assert run.in_module == sum(p.nbytes for p in module.parameters()) == 1152
    assert run.after[:2] == (256, 256)
    assert (state("scale", "scale").word, state("scale", "scale").nbytes) == ("fetched", 0)
    assert state("scale", "output").kind == "stored"

    class Constant(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.ones(100)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.table

    run, _ = ran(Constant(), torch.ones(100))
    assert (run.in_module, run.peak) == (400, 800)


def test_a_value_that_the_module_keeps_is_not_said_to_be_freed() -> None:
    class Hoard(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.kept = x
            return x * 2

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hoard = Hoard()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.hoard(x + 1).relu()

    class Tracer(fx.Tracer):
        def is_leaf_module(self, m: nn.Module, qualified_name: str) -> bool:
            return isinstance(m, Hoard)

    root = Outer()
    _, state = ran(fx.GraphModule(root, Tracer().trace(root)), FOUR, method="boxed_run")
    assert (state("add", "output").kind, state("add", "output").why) == (
        "kept",
        "something outside the interpreter holds it",
    )


@pytest.mark.parametrize("method", ["run", "boxed_run"])
def test_values_equal_those_of_the_module(method: str) -> None:
    torch.manual_seed(0)
    module, inputs = trace(Block()), (torch.randn(4, 8), torch.randn(4, 8))
    run, _ = ran(module, *inputs, method=method)
    with torch.no_grad():
        inner = module.inner(inputs[0])
        assert run.values[2].described.glimpse == describe(inner).glimpse  # type: ignore[union-attr]
        assert run.values[-1].described.glimpse == describe(module(*inputs)).glimpse  # type: ignore[union-attr]


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


def test_inputs_are_copied_and_left_alone() -> None:
    given = torch.ones(4, requires_grad=True)
    copies = cloned([given, [given, 3], {"key": FOUR}])
    assert copies[0] is not given
    assert copies[0] is copies[1][0]
    assert copies[0].requires_grad
    assert torch.equal(copies[2]["key"], FOUR)
    RunStepper(trace(lambda x: x.zero_()), FOUR)
    assert FOUR.sum() == 4


def test_a_comparison_shows_both_runs() -> None:
    stepper = RunStepper(trace(two_inputs), FOUR, OTHER, compare="boxed_run")
    assert repr(stepper).splitlines() == [
        "two_inputs, run by Interpreter.run and Interpreter.boxed_run",
        "#  node    result        run: alive  freed        boxed_run: alive  freed",
        "0  a       float32 (4,)  32 B                     32 B",
        "1  b       float32 (4,)  32 B                     32 B",
        "2  add     float32 (4,)  48 B                     32 B              a (16 B)",
        "3  mul     float32 (4,)  48 B        add (16 B)   16 B              b (16 B), add (16 B)",
        "4  relu    float32 (4,)  48 B        mul (16 B)   16 B              mul (16 B)",
        "5  sum_1   float32 ()    36 B        relu (16 B)  4 B               relu (16 B)",
        "6  output  float32 ()    36 B                     4 B",
        "run: at most 64 B alive, at mul; 4 B when the run had returned.",
        "boxed_run: at most 48 B alive, at add; 4 B when the run had returned.",
    ]
    page = stepper._repr_html_()
    assert "run frees nothing." in page
    assert "boxed_run frees a (16 B)." in page
    assert "run: up to 64 B" in page
    assert "boxed_run: up to 48 B" in page
    assert "stroke: #0072b2" in page
    assert "stroke-dasharray" in page[page.index("stroke: #d55e00") - 90 : page.index("stroke: #d55e00")]
    assert RunStepper(trace(two_inputs), FOUR, OTHER, boxed=True, compare="run").title.endswith("Interpreter.run")


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
    """The HTML of a stepper, which must be well-formed XML but for its style, its script and its stills."""
    text = re.sub(r"<(style|script)>.*?</\1>|<img [^>]*>", "", stepper._repr_html_(), flags=re.DOTALL)
    return ET.fromstring(text)


def test_a_frame_tells_the_story_in_its_tables() -> None:
    page = tree_of(RunStepper(trace(two_inputs), torch.arange(4.0) - 1.5, FOUR, boxed=True))
    frames = [part for part in page.iter("div") if part.get("class") == "fx-frame"]
    assert len(frames) == 7
    text = " ".join(" ".join(frames[3].itertext()).split())
    assert "mul: operator.mul(add, b) gives float32 (4,). Freed after it: b, add. Alive now: 16 B." in text
    assert "-0.5 0.5 1.5 2.5" in text
    rows = {row.get("data-fx-name"): row for row in frames[3].iter("tr") if row.get("data-fx-name")}
    assert list(rows) == ["a", "b", "add", "mul", "relu", "sum_1", "output"]
    assert rows["mul"].get("data-fx-reads") == "2 1"
    assert "fx-current" in rows["mul"].get("class", "")
    states = {name: " ".join(" ".join(row.itertext()).split()) for name, row in rows.items()}
    assert states["b"] == "1 b float32 (4,) \N{MINUS SIGN} freed now"
    assert states["mul"] == "3 mul float32 (4,) 16 B + made"
    assert states["relu"] == "4 relu · not yet"


def test_the_same_run_has_the_same_bytes() -> None:
    def shown() -> tuple[str, str]:
        torch.manual_seed(0)
        stepper = RunStepper(trace(Block()), torch.randn(4, 8), torch.randn(4, 8), compare="boxed_run")
        return repr(stepper), re.sub(r"fx-notebook-\d+", "fx", stepper._repr_html_())

    first, second = shown(), shown()
    assert first == second
    assert "0x" not in first[1]


@pytest.mark.parametrize("compare", [None, "boxed_run"])
def test_twelve_nodes_stay_small(compare: Any) -> None:
    stepper = RunStepper(trace(Block()), torch.ones(4, 8), torch.ones(4, 8), compare=compare)
    page = stepper._repr_html_().encode()
    assert len(trace(Block()).graph.nodes) == 12
    assert len(page) < 150_000
    assert len(gzip.compress(page)) < 25_000


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


def lint_refuses() -> fx.Graph:
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


# A torch before 2.10 runs on a list of any length.
COUNTS = Version(torch.__version__) >= Version("2.10")
HARD: dict[str, tuple[Callable[[], Any], tuple, dict, str]] = {
    "too few": (lambda: trace(two_inputs), (FOUR,), {}, "b raised RuntimeError: Expected positional argument"),
    "too few, boxed": (
        lambda: trace(two_inputs),
        (FOUR,),
        {"boxed": True},
        "No node ran: RuntimeError" if COUNTS else "No node ran: StopIteration",
    ),
    "too many": (lambda: trace(two_inputs), (FOUR, OTHER, OTHER), {}, "Interpreter.run does not look at the rest"),
    "too many, boxed": (
        lambda: trace(two_inputs),
        (FOUR, OTHER, OTHER),
        {"boxed": True},
        "(extra arguments)" if COUNTS else "Interpreter.boxed_run does not look at the rest",
    ),
    "none": (lambda: trace(two_inputs), (), {}, "0 were given"),
    "shapes": (lambda: trace(two_inputs), (FOUR, torch.ones(3)), {}, "mul raised RuntimeError: The size of tensor"),
    "raises": (lambda: trace(lambda x: boom(x + 1)), (FOUR,), {}, "boom raised KeyError"),
    "second raises": (
        lambda: trace(two_inputs),
        (FOUR, OTHER),
        {"compare": trace(lambda a, b: boom(a))},
        "boom raised KeyError",
    ),
    "lint refuses": (lint_refuses, (FOUR,), {}, "tan raised RuntimeError: Node tan referenced nonexistent value cos"),
    "no output": (no_output, (FOUR,), {}, "0 B when the run had returned"),
    "no nodes": (fx.Graph, (), {}, "The graph has no nodes."),
    "stale": (stale, (FOUR,), {}, "The compiled code is older"),
    "containers": (lambda: trace(nested), (FOUR,), {"boxed": True}, "dict of 3 [sum: tuple of 2"),
    "pytree": (packed, ({"a": FOUR, "b": OTHER},), {}, "list of 1 [float32 (4,)]"),
    "pytree, boxed": (packed, (FOUR, OTHER), {"boxed": True}, "float32 (4,)"),
    "numbers": (lambda: trace(lambda a, b: a + b), (2, 3.5), {}, "float"),
    "none and module": (lambda: trace(lambda a, b: (a, b)), (None, nn.ReLU()), {}, "torch.nn.ReLU"),
    "unreadable": (lambda: trace(lambda a, b: (a, b)), (Unreadable(), "x" * 100_000), {}, "Unreadable"),
    "on meta": (lambda: trace(two_inputs), (FOUR.to("meta"),) * 2, {}, "hold no memory"),
    "sparse": (lambda: trace(lambda x: x * 2), (torch.eye(3).to_sparse(),), {}, "their bytes are not counted"),
    "empty tensor": (lambda: trace(lambda x: x + 1), (torch.ones(0, 3),), {}, "float32 (0, 3)"),
    "varargs": (lambda: trace(lambda *xs: xs[0] + xs[1]), (FOUR, OTHER), {}, "list of 2"),
    "default": (lambda: trace(lambda x, n=10: x + n), (FOUR,), {}, "float32 (4,)"),
    "markup": (lambda: trace(lambda a: a), ("<script>alert(1)</script>",), {}, "str"),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_cases_show_what_worked_and_what_did_not(name: str) -> None:
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


def test_frames_go_up_to_the_node_that_raised() -> None:
    stepper = RunStepper(trace(two_inputs), FOUR, torch.ones(3))
    frames = [part for part in tree_of(stepper).iter("div") if part.get("class") == "fx-frame"]
    assert len(frames) == 4
    assert "mul raised an error" in "".join(frames[-1].itertext())
    assert stepper._subjects[0].run.after == (28, 28, 44)


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
def test_wrong_arguments_are_refused_with_what_to_do(arguments: tuple, kind: type, message: str) -> None:
    *given, last = arguments
    options = last if isinstance(last, dict) else {}
    with pytest.raises(kind, match=re.escape(message)):
        RunStepper(*(given if options else arguments), **options)


def test_a_graph_without_a_module_can_be_run() -> None:
    assert "At most 32 B alive" in repr(RunStepper(no_output(), FOUR))


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


def test_a_default_is_no_missing_input_for_run_but_for_boxed_run() -> None:
    def scaled(x: torch.Tensor, factor: float = 2.0) -> torch.Tensor:
        return x * factor

    traced = fx.symbolic_trace(scaled)
    assert "given" not in repr(RunStepper(traced, torch.ones(1)))
    assert "The graph has 2 inputs (x, factor), but 1 was given." in repr(RunStepper(traced, torch.ones(1), boxed=True))
