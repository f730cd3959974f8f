"""In every exercise, an answer must leave torch, its inputs and the model's state unchanged.

Each guard is tested with a right answer that does one thing more.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, eager, traced
from fxbook.checking import check_with
from fxbook.graph.global_state import GlobalStateSnapshot
from fxbook.rules.predicates import same_result
from tests.checking.exercise_for_tests import DEEP, RELU_AFTER_LINEAR, SHALLOW, an_exercise, changed, right, value_is

PASS = an_exercise("99-pass", "pass", (SHALLOW, DEEP), (same_result,))


def first(module: nn.Module) -> Any:
    return module.get_submodule("layers.0")


def and_then(does: Callable[[fx.GraphModule], Any]) -> Callable[[fx.GraphModule], None]:
    """The right answer, followed by one more action."""

    def answer(module: fx.GraphModule) -> None:
        right(module)
        does(module)

    return answer


def runs_it_backwards(module: fx.GraphModule) -> None:
    module.forward(torch.ones(1, module.get_submodule("layers.0").in_features)).sum().backward()  # type: ignore[operator]


def annotates(module: fx.GraphModule, op: str, annotation: Any) -> None:
    [node] = module.graph.find_nodes(op=op)
    node.type = annotation
    module.recompile()


class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))


LEFT: dict[str, tuple[Callable[[fx.GraphModule], Any], str]] = {
    "gradients": (lambda _: torch.set_grad_enabled(False), "gradients are switched off after your code has run"),
    "a mode entered": (lambda _: torch.no_grad().__enter__(), "gradients are switched off"),
    "inference": (
        lambda m: vars(m).setdefault("_on", torch.inference_mode()).__enter__(),
        "inference mode is switched on",
    ),
    "dtype": (lambda _: torch.set_default_dtype(torch.float64), "the default dtype is torch.float64"),
    "device": (lambda _: torch.set_default_device("meta"), "the default device is meta"),
    "threads": (lambda _: torch.set_num_threads(3), "torch computes with 3 threads"),
    "anomalies": (lambda _: torch.autograd.set_detect_anomaly(True), "anomaly detection is switched on"),
    "deterministic": (lambda _: torch._C._set_deterministic_algorithms(True), "deterministic algorithms are switched"),
    "autocast": (lambda _: torch.set_autocast_enabled("cpu", True), "autocast is switched on"),
    "fast path": (
        lambda _: torch.backends.mha.set_fastpath_enabled(False),
        "the fast path of attention is switched off",
    ),
    "function mode": (lambda _: Mode().__enter__(), "1 modes of torch functions are active"),
    "seed": (lambda _: torch.manual_seed(7), "torch's random numbers have the seed 7"),
    "global hook": (
        lambda _: nn.modules.module.register_module_forward_hook(lambda *_: None),
        "1 hooks are on every module of the process",
    ),
    "hook": (lambda m: first(m).register_forward_hook(lambda *_: None), "`layers.0` has 1 more hook than before"),
    "hook before": (lambda m: first(m).register_forward_pre_hook(lambda *_: None), "`layers.0` has 1 more hook"),
    "hook of the model": (lambda m: m.register_forward_hook(lambda *_: None), "the model has 1 more hook"),
    "hook backwards": (lambda m: first(m).register_full_backward_hook(lambda *_: None), "`layers.0` has 1 more hook"),
    "eval": (lambda m: m.eval(), "the model is now in eval mode"),
    "eval of one": (lambda m: first(m).eval(), "`layers.0` is now in eval mode"),
    "frozen": (lambda m: m.requires_grad_(False), "the weight `layers.0.weight` has a different requires_grad"),
    "a gradient": (runs_it_backwards, "the weight `layers.0.weight` has a gradient"),
    "other values": (lambda m: first(m).weight.data.mul_(1), ""),
    "a mark": (lambda m: setattr(first(m).weight, "seen", 1), "`layers.0.weight` has a new attribute `seen`"),
    "an annotation": (
        lambda m: annotates(m, "placeholder", None),
        "the input `x` has a different annotation, None in place of Tensor",
    ),
    "an annotation of the result": (
        lambda m: annotates(m, "output", tuple[Tensor]),
        "the result has a different annotation, tuple in place of Tensor",
    ),
    "forward": (
        lambda m: setattr(first(m), "forward", functools.partial(nn.Linear.forward, first(m))),
        "`layers.0` now has its own `forward`",
    ),
}


@pytest.mark.parametrize("named", LEFT)
def test_side_effects_are_reported(named: str) -> None:
    does, says = LEFT[named]
    report = check_with(RELU_AFTER_LINEAR, and_then(does), seed=1)
    if not says:
        assert report.passed, "nothing differs"
        return
    assert (report.violated, says in report.message) == ("nothing_left", True), repr(report)
    assert report.message.startswith("Your code changes what should stay as it was: ")
    # This process is unchanged.
    assert check_with(RELU_AFTER_LINEAR, right, seed=1).passed


def test_a_class_of_layers_is_reported_instead_of_what_it_leads_to() -> None:
    def calls_the_class(module: fx.GraphModule) -> None:
        for node in module.graph.find_nodes(op="call_function", target=torch.relu):
            node.target = nn.ReLU
        module.recompile()

    report = check_with(RELU_AFTER_LINEAR, and_then(calls_the_class), seed=1)
    assert report.violated == "layers_applied"
    assert report.message == "Node `relu` calls the class `ReLU`: that makes a layer, and does not apply it."


def test_lost_default_is_reported() -> None:
    """The last case of an edit has an input with a default, which an answer that rebuilds the graph may lose."""

    def loses_it(module: fx.GraphModule) -> None:
        for node in module.graph.find_nodes(op="placeholder"):
            node.args = ()
        module.recompile()

    def gains_one(module: fx.GraphModule) -> None:
        module.graph.find_nodes(op="placeholder")[0].args = (1.5,)
        module.recompile()

    for does, says in ((loses_it, "has lost its default"), (gains_one, "has the default `1.5`")):
        report = check_with(RELU_AFTER_LINEAR, and_then(does), seed=1)
        assert (report.violated, says in report.message) == ("defaults_kept", True), repr(report)


def test_changed_weight_is_reported_even_with_equal_outputs() -> None:
    class WithSpare(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.spare = nn.Linear(4, 4), nn.Linear(4, 4)
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x: Tensor) -> Tensor:
            return self.used(x)

    case = Case("a spare layer", WithSpare, lambda: (torch.randn(2, 4),))
    exercise = changed(PASS, cases=(case, dataclasses.replace(case, unseen=True)))
    for name, says in (("spare.bias", "the weight `spare.bias`"), ("count", "the weight `count`")):

        def overwrites(model: nn.Module, name: str = name) -> fx.GraphModule:
            with torch.no_grad():
                dict([*model.named_parameters(), *model.named_buffers()])[name].add_(1)
            return fx.symbolic_trace(model)

        report = check_with(exercise, overwrites, seed=1)
        assert report.violated == "nothing_left" and f"{says} has different values" in report.message, repr(report)
    assert check_with(exercise, fx.symbolic_trace, seed=1).passed


def test_changed_input_is_reported_for_data_answers() -> None:
    case = dataclasses.replace(SHALLOW, given=lambda model: (model, {"batch": [torch.ones(1, 4)]}))
    exercise = an_exercise("99-data", "compute", (case,), (value_is(lambda *_: 4),))

    def overwrites(model: nn.Module, table: dict[str, list[Tensor]]) -> int:
        table["batch"][0].zero_()
        return 4

    report = check_with(exercise, overwrites, seed=1)
    assert report.violated == "nothing_left"
    assert "a tensor that your code was given holds different values" in report.message

    def asks_for_a_gradient(model: nn.Module, table: dict[str, list[Tensor]]) -> int:
        table["batch"][0].requires_grad_()
        return 4

    report = check_with(exercise, asks_for_a_gradient, seed=1)
    assert report.violated == "nothing_left"
    assert "a tensor that your code was given now has requires_grad=True" in report.message
    assert check_with(exercise, lambda *_: 4, seed=1).passed


def test_removed_hooks_and_drawn_numbers_are_allowed() -> None:
    def tidies(module: fx.GraphModule) -> None:
        right(module)
        handle = module.register_forward_hook(lambda *_: None)
        with torch.no_grad(), Mode():
            module.forward(torch.randn(2, first(module).in_features))
        handle.remove()

    assert check_with(RELU_AFTER_LINEAR, tidies, seed=1).passed


def test_modes_are_restored_without_a_child_process() -> None:
    around = GlobalStateSnapshot((), ())
    threads = torch.get_num_threads()
    torch.set_num_threads(threads + 1)
    torch.autograd.set_detect_anomaly(True)
    assert len(around.side_effects()) == 2
    around.put_back()
    assert around.side_effects() == []
    assert (torch.get_num_threads(), torch.is_anomaly_enabled()) == (threads, False)


def test_stale_insertion_point_is_reported_for_data_answers() -> None:
    def leaves(module: fx.GraphModule) -> float:
        module.graph.inserting_after(module.graph.find_nodes(op="call_module")[0]).__enter__()
        return 1.0

    case = Case("a layer", lambda: nn.Sequential(nn.Linear(2, 2)), lambda: (torch.ones(1, 2),))
    exercise = an_exercise("99-leaves", "compute", (case,), (value_is(lambda module: 1.0),), given=traced)
    report = check_with(exercise, leaves, seed=1)
    assert report.violated == "nothing_left" and "still inserts after `_0`" in report.message
    assert report.read == "02_insertion_points#an-anchor-holds-as-long-as-its-with"


def test_edit_is_reported_where_an_answer_only_reads() -> None:
    def cleans(module: fx.GraphModule) -> float:
        module.graph.eliminate_dead_code()
        return 1.0

    def moves(module: fx.GraphModule) -> float:
        first(module.graph).append(module.graph.output_node().prev)
        return 1.0

    def first(graph: fx.Graph) -> fx.Node:
        return next(iter(graph.nodes))

    def puts_back(module: fx.GraphModule) -> float:
        with module.graph.inserting_after(first(module.graph)):
            extra = module.graph.call_function(torch.relu, (first(module.graph),))
        module.graph.erase_node(extra)
        return 1.0

    class Dead(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            torch.exp(x)
            torch.sin(x)
            return torch.cos(x)

    case = Case("a dead call", Dead, lambda: (torch.ones(1, 2),))
    reading = an_exercise("99-reads", "compute", (case,), (value_is(lambda module: 1.0),), given=traced)
    for answer, node in ((cleans, "exp"), (moves, "exp")):
        report = check_with(reading, answer, seed=1)
        assert report.violated == "nothing_left" and f"has been edited, at node `{node}`" in report.message
    assert check_with(reading, puts_back, seed=1).passed
    by_call = an_exercise(
        "99-uses",
        "compute",
        (case,),
        (value_is(lambda module: 1.0),),
        given=traced,
        call=lambda answer, module: answer(module),
    )
    assert check_with(by_call, cleans, seed=1).passed


# ---- changes that no node shows --------------------------------------------------------------------------------------


class Keeps:
    """A callable object that runs a module."""

    def __init__(self, model: nn.Module) -> None:
        # Generated code needs the name of what it calls.
        self.model, self.__name__ = model, "keeps"

    def __call__(self, x: Tensor) -> Tensor:
        return self.model(x)

    def method(self, x: Tensor) -> Tensor:
        return self.model(x)


def _closure(model: nn.Module) -> Callable[[Tensor], Tensor]:
    def whole(x: Tensor) -> Tensor:
        return model(x)

    return whole


def _within(model: nn.Module) -> Callable[[Tensor], Tensor]:
    layers = {"all": [model]}
    return lambda x: layers["all"][0](x)


def _default(model: nn.Module) -> Callable[..., Tensor]:
    def whole(x: Tensor, model: nn.Module = model) -> Tensor:
        return model(x)

    return whole


def named(function: Any) -> Any:
    """Add the name that generated code needs."""
    function.__name__ = "whole"
    return function


HIDING: dict[str, Callable[[nn.Module], Callable[..., Any]]] = {
    "a closure": _closure,
    "a closure in a closure": lambda model: _closure(_closure(model)),  # type: ignore[arg-type]
    "a list in a closure": _within,
    "a default": _default,
    "its forward": lambda model: model.forward,
    "a partial function": lambda model: named(functools.partial(nn.Module.__call__, model)),
    "an object": Keeps,
    "a method of an object": lambda model: Keeps(model).method,
    "a module": lambda model: named(model),
    "a traced module": lambda model: _closure(fx.symbolic_trace(model)),
}


@pytest.mark.parametrize("named", HIDING)
def test_function_holding_the_model_is_reported(named: str) -> None:
    def hides(model: nn.Module) -> fx.GraphModule:
        graph = fx.Graph()
        x = graph.placeholder("x")
        node = graph.create_node("call_function", HIDING[named](model), (x,), name="whole")
        graph.output(node)
        return fx.GraphModule(nn.Module(), graph)

    report = check_with(PASS, hides, seed=1)
    assert report.violated == "all_in_sight", repr(report)
    assert report.node is not None and report.node.name == "whole"
    assert "the graph should show what the function computes" in report.message


def test_own_function_without_a_module_is_right() -> None:
    scale, inner = torch.ones(()), (lambda value: value * 1)

    def own(x: Tensor) -> Tensor:
        return inner(x) * scale

    def adds_it(model: nn.Module) -> fx.GraphModule:
        traced = fx.symbolic_trace(model)
        output = traced.graph.output_node()
        with traced.graph.inserting_before(output):
            output.args = (traced.graph.call_function(own, output.args),)
        traced.recompile()
        return traced

    assert check_with(PASS, adds_it, seed=1).passed
    assert check_with(changed(PASS, given=eager), adds_it, seed=1).passed
