"""What no known answer to an exercise tests of rules, families of functions, and the comparison of values.

:mod:`tests.checking.test_answers` tests that rules accept, reject and name the node.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import operator
from collections import OrderedDict, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, eager
from fxbook.cases.running import differing_trimming, trimmings
from fxbook.cases.values import decode_tensor, difference, encode, is_value
from fxbook.checking import check_with
from fxbook.checking.judge import Verdict, judge
from fxbook.graph.record import record
from fxbook.observing.observe import observe
from fxbook.observing.prepare import prepare
from fxbook.rules import explained
from fxbook.rules.families import ADD, CONV2D, GELU, LINEAR, RELU, family
from fxbook.rules.predicates import (
    calls,
    has_node,
    input_unchanged,
    lints,
    placeholders,
    recompiled,
    same_result,
)
from fxbook.rules.rule import Found, Rule, Violation, configurable, rule
from tests.checking.exercise_for_tests import DEEP, RELU_AFTER_LINEAR, SHALLOW, an_exercise, changed, right, with_relu


def verdict(holds: Rule, answer: Any, **fields: Any) -> Verdict:
    """The verdict on an answer to an exercise that has only this rule."""
    exercise = an_exercise("99-x", "build", (SHALLOW,), (holds,))
    exercise = changed(exercise, **{"use": "edit", "cases": (SHALLOW, DEEP), **fields})
    return judge(exercise, observe(prepare(exercise, 3), answer), 3)


# ---- answers ---------------------------------------------------------------------------------------------------------


def nothing_done(module: fx.GraphModule) -> None:
    pass


def no_recompile(module: fx.GraphModule) -> None:
    module.graph.find_nodes(op="call_module", target="layers.1")[0].target = "layers.0"


def annotates(module: fx.GraphModule) -> None:
    module.graph.find_nodes(op="call_module", target="layers.0")[0].type = Tensor


def missing_module(module: fx.GraphModule) -> None:
    module.graph.find_nodes(op="call_module", target="layers.1")[0].target = "layers.77"


def drops_a_layer(module: fx.GraphModule) -> None:
    node = module.graph.find_nodes(op="call_module", target="layers.1")[0]
    node.replace_all_uses_with(node.prev)
    module.graph.erase_node(node)
    module.recompile()


def returns_nan(module: fx.GraphModule) -> None:
    output = module.graph.output_node()
    with module.graph.inserting_before(output):
        output.args = (module.graph.call_function(operator.mul, (output.args[0], float("nan"))),)
    module.recompile()


def returns_two_values(module: fx.GraphModule) -> None:
    output = module.graph.output_node()
    output.args = (*output.args, output.args[0])
    module.recompile()


def writes_with_out(module: fx.GraphModule) -> None:
    output = module.graph.output_node()
    x = next(iter(module.graph.nodes))
    with module.graph.inserting_before(output):
        module.graph.call_function(torch.neg, (output.args[0],), {"out": x})
    module.recompile()


def evaluates(model: nn.Module) -> fx.GraphModule:
    return fx.symbolic_trace(model.eval())


def adds_module(model: nn.Module) -> fx.GraphModule:
    model.activation = nn.ReLU()
    return fx.symbolic_trace(model)


def freezes(model: nn.Module) -> fx.GraphModule:
    next(model.parameters()).requires_grad_(False)
    return fx.symbolic_trace(model)


class TwoInputs(nn.Module):
    """``relu(x) + scale``."""

    def forward(self, x: Tensor, scale: Tensor) -> Tensor:
        return torch.relu(x) + scale


TWO = Case("two inputs", TwoInputs, lambda: (torch.randn(3), torch.randn(3)))


def graph_of(*names: str) -> Callable[[], fx.Graph]:
    """``relu(first) + last``, built by hand."""

    def build() -> fx.Graph:
        graph = fx.Graph()
        inputs = [graph.placeholder(name) for name in names]
        first = graph.call_function(torch.relu, (inputs[0],))
        graph.output(graph.call_function(operator.add, (first, inputs[-1])))
        return graph

    return build


BUILD: dict[str, Any] = {"use": "build", "cases": (TWO,)}
PASS: dict[str, Any] = {"use": "pass", "given": eager}
two = graph_of("x", "scale")
Row = tuple[str, Rule, Any, dict[str, Any], str | None, str | None]

ROWS: list[Row] = [
    ("lints: missing module", lints, missing_module, {}, "graph.lint() rejects the graph", "layers_1"),
    (
        "lints: two values",
        explained.lints,
        returns_two_values,
        {},
        "has 2 arguments: a run returns only the first",
        "output",
    ),
    (
        "callers_input_stays: out",
        explained.callers_input_stays,
        writes_with_out,
        {},
        "it changes the tensor passed as `x`",
        "neg",
    ),
    ("same_result: nan", same_result, returns_nan, {}, "it holds nan", "output"),
    ("same_result: stale", same_result, no_recompile, {"expected": with_relu}, "the compiled code is stale", None),
    ("or_because: why", same_result.or_because(calls(GELU)), drops_a_layer, {}, "No node calls gelu", None),
    ("input_unchanged: mode", input_unchanged, evaluates, PASS, "the model is now in eval mode", None),
    ("input_unchanged: module", input_unchanged, adds_module, PASS, "it has a new submodule `activation`", None),
    ("input_unchanged: grad", input_unchanged, freezes, PASS, "has a different requires_grad", None),
    ("input_unchanged: annotation", input_unchanged, annotates, {}, "was edited, at node `layers_0`", None),
    (
        "calls: times",
        calls(LINEAR, times=2),
        nothing_done,
        {"cases": (SHALLOW, DEEP)},
        "5 calls to linear, not 2",
        "layers_2",
    ),
    ("calls: no times", calls(RELU, times=1), nothing_done, {}, "no calls to relu, not 1", None),
    ("has_node", has_node("call_method"), two, BUILD, "The graph has no `call_method` node", None),
    (
        "placeholders: missing",
        placeholders("x", "scale"),
        graph_of("x"),
        BUILD,
        "takes 1 input: `scale` is missing",
        None,
    ),
    ("where: false", calls(GELU).where(lambda case: False), two, BUILD, None, None),
    ("where: true", calls(GELU).where(lambda case: True), two, BUILD, "No node calls gelu", None),
]


def with_trimmings(default: float | None = 1.0, note: str = "old", **notes: str) -> fx.Graph:
    graph = fx.Graph()
    x = graph.placeholder("x", type_expr=Tensor)
    scale = graph.placeholder("scale", default_value=default) if default else graph.placeholder("scale")
    result = graph.call_function(torch.mul, (x, scale))
    result.meta = {"why": note, **notes}
    graph.output(result)
    return graph


def test_what_new_nodes_lose_is_named() -> None:
    before = trimmings(with_trimmings())
    assert differing_trimming(before, with_trimmings()) is None
    assert differing_trimming(before, with_trimmings(None)) == ["scale", "has lost its default"]
    assert differing_trimming(before, with_trimmings(2.0)) == ["scale", "has a different default"]
    assert differing_trimming(before, with_trimmings(note="new")) == ["mul", "has a different note `why` in `meta`"]
    assert differing_trimming(before, with_trimmings(more="")) == ["mul", "has a new note `more` in `meta`"]
    bare = with_trimmings()
    bare.find_nodes(op="placeholder")[0].type = None
    assert differing_trimming(before, bare) == ["x", "has lost its annotation"]


@pytest.mark.parametrize(
    ("holds", "answer", "fields", "message", "node"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_property(holds: Rule, answer: Any, fields: dict[str, Any], message: str | None, node: str | None) -> None:
    found = verdict(holds, answer, **fields)
    if message is None:
        assert found.passed, found.violation
        return
    assert found.violation is not None
    assert message in found.violation.message
    assert found.violation.message.endswith(".") or "raises" in found.violation.message
    marked = (
        None if found.violation.node is None or found.graph is None else found.graph.nodes[found.violation.node].name
    )
    assert marked == node


# ---- rules -----------------------------------------------------------------------------------------------------------


def test_at_changes_the_section_but_not_the_name() -> None:
    found = verdict(recompiled.at("00_first_graph#change-one-node"), no_recompile)
    assert found.violation == Violation(found.violation.message, None, "00_first_graph#change-one-node", "recompiled")
    assert verdict(recompiled.at("00_first_graph#change-one-node"), right).passed


def test_unknown_section_is_an_error_at_definition() -> None:
    with pytest.raises(ValueError, match="00_first_graph#change-one-mode' is not a heading"):
        recompiled.at("00_first_graph#change-one-mode")
    with pytest.raises(ValueError, match="is not a heading"):
        rule("04_recompile")


def test_section_from_a_rule_is_validated() -> None:
    @rule
    def lost(case: Any) -> Found:
        yield None, "Nowhere.", "04_recompile#nowhere"

    assert check_with(changed(RELU_AFTER_LINEAR, rules=(lost,)), nothing_done).violated == "the check works"


def test_lower_case_sentence_follows_the_node_name() -> None:
    @rule("00_first_graph#change-one-node")
    def short(case: Any) -> Found:
        """Blames a node of the answer's graph or of the given graph."""
        yield (case.nodes[1] if len(case.nodes) == 4 else case.before.nodes[-1]), "is one of many"

    own, given = (
        verdict(short, answer).violation
        for answer in (nothing_done, lambda m: m.graph.erase_node(list(m.graph.nodes)[-1]))
    )
    assert own == Violation("Node `layers_0` is one of many.", 1, "00_first_graph#change-one-node", "short")
    # A node of the given graph is marked in that graph.
    assert given == Violation("Node `output` is one of many.", None, "00_first_graph#change-one-node", "short", given=3)


def test_configurable_keeps_name_and_settings() -> None:
    @configurable
    def at_most(case: Any, count: int) -> Found:
        if len(case.nodes) > count:
            yield None, "Too many."

    found = verdict(at_most(count=3), nothing_done)
    assert (found.violation.rule, found.violation.message) == ("at_most", "Too many.")  # type: ignore[union-attr]
    assert verdict(at_most(count=9), nothing_done).passed
    assert list(at_most(count=3).or_because(lints, recompiled).names()) == ["at_most", "lints", "recompiled"]


# ---- families --------------------------------------------------------------------------------------------------------


SIGMOID = family("sigmoid", "expit", modules=(nn.Sigmoid,))
DROPOUT = family("dropout", "feature_dropout", "alpha_dropout", modules=(nn.Dropout, nn.AlphaDropout))
BATCH_NORM = family("batch_norm", modules=(nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d))


class Spelled(nn.Module):
    """A model with one operation, written in one of several ways."""

    def __init__(self, function: Callable[..., Any], *modules: nn.Module) -> None:
        super().__init__()
        self.function = function
        self.layers = nn.ModuleList(modules)

    def forward(self, x: Tensor) -> Any:
        return self.function(self, x)


F = nn.functional
SPELLINGS: list[tuple[Any, Callable[..., Any], tuple[nn.Module, ...]]] = [
    (RELU, lambda m, x: torch.relu(x), ()),
    (RELU, lambda m, x: F.relu(x), ()),
    (RELU, lambda m, x: x.relu(), ()),
    (RELU, lambda m, x: m.layers[0](x), (nn.ReLU(),)),
    (RELU, lambda m, x: torch.ops.aten.relu.default(x), ()),
    (ADD, lambda m, x: x + 1, ()),
    (ADD, lambda m, x: torch.add(x, 1), ()),
    (ADD, lambda m, x: x.add_(1), ()),
    (ADD, lambda m, x: torch.ops.aten.add.Tensor(x, x), ()),
    (GELU, lambda m, x: F.gelu(x), ()),
    (GELU, lambda m, x: m.layers[0](x), (nn.GELU(),)),
    (SIGMOID, lambda m, x: F.sigmoid(x), ()),
    (LINEAR, lambda m, x: F.linear(x, x), ()),
    (LINEAR, lambda m, x: m.layers[0](x), (nn.Linear(2, 2),)),
    (CONV2D, lambda m, x: torch.conv2d(x, x), ()),
    (CONV2D, lambda m, x: m.layers[0](x), (nn.Conv2d(1, 1, 1),)),
    (DROPOUT, lambda m, x: m.layers[0](x), (nn.Dropout(),)),
    (BATCH_NORM, lambda m, x: m.layers[0](x), (nn.BatchNorm2d(1),)),
]


@pytest.mark.parametrize(("wanted", "function", "modules"), SPELLINGS)
def test_each_spelling_belongs_to_one_family(wanted: Any, function: Any, modules: Any) -> None:
    nodes = record(fx.symbolic_trace(Spelled(function, *modules))).nodes
    families = [RELU, ADD, GELU, SIGMOID, LINEAR, CONV2D, DROPOUT, BATCH_NORM]
    assert [[node.op for node in nodes if node in each] for each in families if each is not wanted] == [[]] * 7
    assert len([node for node in nodes if node in wanted]) == 1


def test_families_can_be_joined_renamed_and_made() -> None:
    either = (RELU | GELU).called("an activation")
    assert either.label == "an activation"
    assert {"torch.relu", "torch.nn.functional.gelu"} <= either.functions
    clamp = family("clamp", "clip", modules=(nn.Hardtanh,), functions=(with_relu,))
    assert {"torch.clamp", "torch.clip", "tests.checking.exercise_for_tests.with_relu"} <= clamp.functions
    assert clamp.modules == {"torch.nn.Hardtanh"}


# ---- values ----------------------------------------------------------------------------------------------------------

VALUES: list[Any] = [
    None,
    True,
    7,
    "text",
    1.5,
    float("nan"),
    float("-inf"),
    2j,
    (1, "a"),
    [1, [2]],
    {"a": 1, 2: torch.ones(2)},
    {1, 2},
    torch.float32,
    torch.relu,
    object(),
    torch.randn(2, 3),
    torch.tensor([float("nan"), float("inf"), -0.0, 1e-45]),
    torch.randn(3, dtype=torch.float64) * 1e300,
    torch.randn(3).to(torch.bfloat16),
    torch.randn(2, 2, dtype=torch.complex64),
    torch.tensor([True, False]),
    torch.tensor([2**62, -1]),
    torch.empty(0, 4),
    torch.tensor(3.0, requires_grad=True),
    torch.empty(2, device="meta"),
    torch.ones(2, 2).to_sparse(),
]


@pytest.mark.parametrize("value", VALUES, ids=[f"value-{place}" for place in range(len(VALUES))])
def test_value_survives_json_and_equals_only_itself(value: Any) -> None:
    travelled = json.loads(json.dumps(encode(value)))
    assert is_value(travelled)
    assert difference(travelled, encode(value)) is None
    if isinstance(value, torch.Tensor) and travelled["data"] is not None:
        back = decode_tensor(travelled)
        assert back.dtype == value.dtype and back.shape == value.shape
        assert torch.equal(back.nan_to_num(5.0), value.detach().nan_to_num(5.0))
        assert torch.equal(torch.signbit(back), torch.signbit(value)) if not value.is_complex() else True
    others = [other for other in VALUES if other is not value]
    assert all(difference(encode(other), travelled) for other in others)


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        (
            (torch.ones(2), torch.ones(2)),
            (torch.ones(2), torch.zeros(2)),
            "its item 1 holds different numbers: 1 at [0] instead of 0; 2 of 2 elements differ",
        ),
        ([1], [1, 2], "it has length 1, not 2"),
        (torch.ones(2), (torch.ones(2),), "it is a tensor, not a sequence"),
        ({"a": 1}, {"b": 1}, "it has the key 'a', which the task does not ask for"),
        ({"a": 1}, {"a": 2}, "its item 'a' is a different number: 1 instead of 2"),
        ("relu", "gelu", "it is 'relu'"),
        (None, torch.ones(1), "it is None, not a tensor"),
        (torch.tensor([1]), torch.tensor([2]), "it holds different values: 1 at [0] instead of 2"),
        (torch.tensor([[0.5, float("nan")]]), torch.ones(1, 2), "it holds nan at [0, 1]: 1 of 2 elements"),
        (torch.tensor(0.5), torch.tensor(0.25), "it holds different numbers: 0.5 instead of 0.25"),
        (
            torch.tensor([1.0, 1.00001], dtype=torch.float64),
            torch.ones(2, dtype=torch.float64),
            "it holds different numbers: 1.00001 at [1] instead of 1; 1 of 2 elements differ",
        ),
        ((1, 2), [1, 2], None),
        (1, 1.0, None),
        (torch.ones(3) * (1 + 1e-6), torch.ones(3), None),
        (
            torch.ones(3) * 1.01,
            torch.ones(3),
            "it holds different numbers: 1.01 at [0] instead of 1; 3 of 3 elements differ",
        ),
    ],
)
def test_difference_is_described_in_words(found: Any, expected: Any, words: str | None) -> None:
    assert difference(encode(found), encode(expected)) == words


@pytest.mark.parametrize("number", [True, 3, 0.1, 0.1 + 2j], ids=str)
def test_numbers_of_numpy_are_encoded_like_those_of_python(number: Any) -> None:
    assert encode([np.array(number)[()]]) == [encode(number)]
    assert encode(np.float32(0.5)) == encode(0.5)
    assert encode(np.longdouble(0.5)) == {"opaque": "longdouble"}


def test_lists_of_numpy_are_encoded_like_those_of_python() -> None:
    assert encode({"time": np.array([0.5, 2.0])}) == encode({"time": [0.5, 2.0]})
    assert encode(np.array([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
    assert encode(np.array([Name("a"), "b"], dtype=object)) == ["a", "b"]
    held = np.empty(1, dtype=object)
    held[0] = held
    assert encode(held) == {"opaque": "ndarray"}


def test_what_is_like_a_list_is_encoded_like_one() -> None:
    table = {"relu": 1, "gelu": 2}
    assert encode([table.keys(), table.values(), range(2), deque([3])]) == [["relu", "gelu"], [1, 2], [0, 1], [3]]
    assert encode(OrderedDict(table).keys()) == ["relu", "gelu"]
    assert encode([range(20_000), range(10**30)]) == [{"opaque": "range"}] * 2
    held: dict[str, Any] = {}
    held["values"] = held.values()
    assert "too deep" in str(encode(held))


class Name(str):
    """A name of a class of the learner's own."""

    __slots__ = ()

    def __str__(self) -> str:
        return "another"


class Seconds(float):
    def __repr__(self) -> str:
        return f"{float(self):.1f} s"


class Side(enum.IntEnum):
    LEFT = 1


def test_subclasses_of_text_and_numbers_are_encoded_like_those_of_python() -> None:
    values = encode([Name("relu"), {Name("relu"): Side.LEFT}, Seconds(0.5), Fraction(1, 2), Decimal("0.5")])
    assert values == encode(["relu", {"relu": 1}, 0.5, 0.5, 0.5])
    assert encode([Fraction(10**400), Decimal("sNaN")]) == encode([math.nan] * 2)
    assert [type(values[0]), type(values[1]["dict"][0][1])] == [str, int]


def test_a_function_of_the_notebook_does_not_pass_for_one_of_python() -> None:
    def own() -> None: ...

    own.__module__, own.__qualname__ = "__main__", "pow"
    assert encode([own, pow]) == [{"function": "__main__.pow"}, {"function": "pow"}]


def test_encoding_is_bounded() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert "too deep" in str(encode(endless))
    assert encode(torch.zeros(1000, 1000))["data"] is None
    assert encode(list(range(100_000))) == {"opaque": "a very long list"}
    assert encode("x" * 10**6) == {"opaque": "a very long str"}


def test_unreadable_values_are_reported() -> None:
    freed, seen = torch.ones(3), []
    freed.untyped_storage().resize_(0)
    torch.vmap(lambda x: seen.append(x) or x)(torch.ones(3))
    ragged = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    for tensor in (freed, *seen, ragged, nn.LazyLinear(3).weight):
        assert encode(tensor) == {"opaque": "a tensor that cannot be read"}
        assert is_value(encode(tensor))
    assert encode(fx.Proxy(fx.Graph().placeholder("x"))) == {"opaque": "Proxy"}
    dynamic = torch.export.export(nn.Tanh(), (torch.ones(3, 2),), dynamic_shapes=({0: torch.export.Dim("batch")},))
    note = next(iter(dynamic.graph.nodes)).meta["val"]
    assert encode(note) == {"opaque": "a tensor whose sizes are symbols"}
    assert encode(note.shape) == {"tuple": [{"opaque": "SymInt"}, 2]}


def test_models_with_noise_are_compared_with_the_same_noise() -> None:
    noisy = Case("noise", lambda: nn.Sequential(nn.Dropout(0.5), nn.Linear(4, 4)), SHALLOW.inputs)
    unseen = dataclasses.replace(noisy, unseen=True)
    assert verdict(same_result, fx.symbolic_trace, use="pass", cases=(noisy, unseen)).passed
