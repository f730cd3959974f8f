"""What the judge finds out of the cases of an exercise is what is known of them: by hand, of each kind of case."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
from torch import fx

from fxbook import tasks
from fxbook.cases import Exercise
from fxbook.cases.exercise import Case, drawn_order, model_of
from fxbook.graph.record import record

additions = importlib.import_module("fxbook.tasks.01_node_creation.find_adds.check")
unused_parameters = importlib.import_module("fxbook.tasks.00_first_graph.unused_parameters.check")

SEEDS = (1, 2, 3, 2**20)

STALE = {
    "a module fresh from tracing": False,
    "an edit": True,
    "an edit, compiled": False,
    "an edit that was taken back": False,
    "an edit that changes no result": True,
    "an edit that changes the order alone": True,
    "an edit in a traced module inside": False,
    "a node that changes no result, compiled": False,
    "another order, compiled": False,
    "an edit around a traced module inside": True,
}
# Of a name that is drawn, all that it may be; "" for any other than those of a trace.
# The paths that may be drawn, of traced modules in which `relu` or `add` fails, where no other node is named.
FAILING: dict[str, tuple[str, ...]] = {
    "a node of the module itself": ("",),
    "a node of a traced module inside": ("first", "second"),
    "nothing that fails": (),
    "a traced module inside a Sequential": ("blocks.1",),
    "several levels, nodes with names of their own": ("outer.block.inner.block",),
    "a layer that fails": ("near.blocks.0",),
    "an error of another class": ("near",),
    "a layer behind a traced module": ("",),
    "an edit that was not compiled, three levels deep": ("near.blocks.0",),
    "a graph that was mended, not compiled": (),
    "a batch norm that updates, then fails in training": ("",),
    "two inputs that do not fit": ("",),
}
OTHER_NODES = {
    "a layer that fails": "up",
    "a layer behind a traced module": "blocks",
    "a batch norm that updates, then fails in training": "norm_1",
}
SURVIVES = {
    "the block of the chapter": True,
    "a function of your own": False,
    "nodes with names of their own": True,
    "an edit that was not compiled": True,
    "paths and a weight": True,
    "noise of the size of an input": True,
    "noise that reads no input": False,
    "an addition in place": False,
    "a lambda": False,
    "a function that chooses": False,
    "a module of your own that chooses": True,
    "a weight fetched twice": False,
    "a shape read early and used late": False,
    "an addition": True,
    "a weight that nothing else fetches": True,
    "a shape read where it is used": True,
}
VERDICTS = {
    **dict.fromkeys(("positive_or_zero", "per_row", "ramp", "root", "checked"), "stops"),
    **dict.fromkeys(("grams", "shifted", "doubled_if_positive", "negative_if_named", "square_or_flat"), "differs"),
    **dict.fromkeys(("with_its_double", "in_parts", "with_size", "repeated", "precise"), "differs"),
    **dict.fromkeys(("slightly_more", "one_more_dimension", "renamed", "in_a_list", "summed"), "differs"),
    **dict.fromkeys(("in_rows", "one_part_more", "one_key_more", "first_of_two"), "differs"),
    **dict.fromkeys(("shaped_alike", "named_alike", "listed_alike", "summed_alike"), "same"),
    **dict.fromkeys(("row_mean", "halved_three_times", "with_root", "doubled_in_place", "scaled_alike"), "same"),
    **dict.fromkeys(("shifted_by_nothing", "doubled_never", "negative_if_typed", "three_by_two"), "same"),
    "with_a_multiple": "same",
}
FAILED = {
    "the attention, a wrong shape": "matmul_1",
    "the attention, no mistake": None,
    "a wrong dtype": "mm",
    "a wrong shape in a list": "cat",
    "a dimension too many": "sum_1",
    "the attention, a wrong width": "matmul",
    "the attention, a wrong width at the layer": "out",
    "a weight that does not fit": "mul",
    "a value used twice": "matmul",
    "an error of its own class": "refused",
    "two shapes in a list, no mistake": None,
}
# Where it fails, no value has the shape of an input.
REDUCED = ("a dimension too many", "the attention, a wrong width at the layer")
DIFFERENT = {
    "a model and its trace": None,
    "`relu` in place on a value that is read again": "the result is another one",
    "`relu` in place on the input": "the second overwrites the tensor that it is given",
    "`relu` in place on what `sigmoid` computes": "the second raises when its gradient is computed",
    "`celu` in place where it is safe": None,
    "a straight-through rounding and its trace": "the gradients with respect to the input differ",
    "a parameter that was detached": "a parameter has another gradient",
    "a softmax over a dimension that is not there": "the second raises",
    "a result with its rows in another order": "the rows of the result are in another order",
    "a result with one more dimension": "the result has another shape",
    "gradients in other rows": "the gradients with respect to the input belong to other rows",
    "a parameter times 0, and without it": None,
    "`relu` in place on a value that nothing else reads": None,
    "a result whose rows are turned around twice": None,
    "gradients that are handed on as they are": None,
    "a result to which zero is added": None,
    "a model that overwrites its input, and its trace": None,
    "a model in training and its trace": None,
    "`relu6` on numbers below six": None,
    "`relu6` on numbers above six": "the result is another one",
    "a result that is a thousandth more": "the result is another one",
    "gradients that are a hundredth more": "the gradients with respect to the input differ",
}
ADDITIONS = {
    "the residual block": ["add", "add_1", "add_2"],
    "the block of many sums": ["add_1", "add_2", "add_", "add_6", "iadd"],
}
UNUSED = {
    "the classifier of the chapter": ["auxiliary.weight", "auxiliary.bias"],
    "a model that uses all it has": [],
    "a model that calls a layer twice": ["unused.weight", "unused.bias"],
    "a model with tied weights and a constant": ["spare.weight", "spare.bias"],
    "a model that takes tokens": ["spare_norm.weight", "spare_norm.bias", "spare.weight", "spare.bias"],
    "a model with a parameter one level down": ["scale.offset"],
    "a model with names that begin alike": [
        "gain_of_old",
        "head2.weight",
        "head2.bias",
        "block.head.weight",
        "block.head.bias",
    ],
}


def made(exercise_id: str) -> Iterator[tuple[Case, Any, tuple[Any, ...]]]:
    """The cases of an exercise, each under several seeds: itself, its model, what an answer is called with."""
    exercise = tasks.find(exercise_id)
    assert exercise
    for seed in SEEDS:
        for case in exercise.usage.cases:
            model = model_of(case, seed)
            yield case, model, exercise.usage.arguments(case, model, seed)


def check_of(folder: str) -> Any:
    """The module ``check`` of an exercise."""
    return importlib.import_module(f"{tasks.__name__}.{folder}.check")


def test_whether_a_module_is_stale() -> None:
    found = [(case.name, record(*given).stale) for case, _, given in made("04-is-it-stale")]
    assert set(found) == set(STALE.items())


def test_which_node_fails() -> None:
    failing_node = check_of("04_recompile.fails_inside").failing_node
    for case, _, given in made("04-fails-inside"):
        path, name = failing_node(*given) or (None, None)
        assert (path in FAILING[case.name]) if FAILING[case.name] else path is None, case.name
        if path is None or "names of their own" in case.name:
            assert name not in ("relu", "add"), case.name
        else:
            assert name in (OTHER_NODES.get(case.name, "relu"), OTHER_NODES.get(case.name, "add")), case.name


def test_whether_the_program_survives_a_pickle() -> None:
    survives = check_of("04_recompile.survives_a_pickle").survives
    found = [(case.name, survives(*given)) for case, _, given in made("04-survives-a-pickle")]
    assert set(found) == set(SURVIVES.items())


def test_what_is_true_of_a_trace() -> None:
    truth_of = check_of("05_control_flow_limits.loud_or_silent").truth_of
    found = [(case.name.strip("`"), truth_of(*given).verdict) for case, _, given in made("05-loud-or-silent")]
    assert set(found) == set(VERDICTS.items())


def test_where_a_run_fails() -> None:
    failure_of = importlib.import_module("fxbook.tasks.08_boxed_run.where_it_failed.check").failure_of
    for case, _, (traced, tensors) in made("08-where-it-failed"):
        found = failure_of(traced, tensors)
        assert (found and found[0]) == FAILED[case.name]
        sizes = {tuple(tensor.shape) for tensor in tensors}
        read = {shape for _, shape in found[1]} if found else set()
        assert not found or sizes & read or case.name in REDUCED, found


def test_in_which_respect_two_modules_differ() -> None:
    truth_of_pair = check_of("06_kwargs.tell_a_difference").truth_of
    found = {(case.name, truth_of_pair(*given).different) for case, _, given in made("06-tell-a-difference")}
    assert found == set(DIFFERENT.items())


def test_which_nodes_add() -> None:
    found: dict[str, list[str]] = {}
    for case, _, (traced,) in made("01-find-adds"):
        found[case.name] = [node.name for node in record(traced) if additions.adds(node)]
    assert {name: found[name] for name in ADDITIONS} == ADDITIONS


def test_which_parameters_are_not_used() -> None:
    found: dict[str, list[str]] = {}
    for case, model, _ in made("00-unused-parameters"):
        found[case.name] = unused_parameters.never_reached(model, record(fx.symbolic_trace(model)))
        assert len(found[case.name]) == 2 or case.name in UNUSED
    assert {name: found[name] for name in UNUSED} == UNUSED


def test_what_is_wrong_with_inputs() -> None:
    shapes = ("(5,)", "[5]"), ("(5, 1)", "[5, 1]")
    dtypes = ("bool",), ("float32",)
    wanted = {
        "a `mask` of shape (5,)": {"mask": shapes},
        "a `mask` of booleans": {"mask": dtypes},
        "`rows` and `mask` both wrong": {"rows": (("(7, 4)", "[7, 4]"), ("(5, 4)", "[5, 4]")), "mask": dtypes},
        "a `mask` of another shape and dtype": {"mask": (*shapes, *dtypes)},
        "no `mask`": {"mask": (("missing",),)},
        "`msak` in place of `mask`": {"mask": (("missing",),), "msak": (("unknown",),)},
        "an unknown input": {"weights": (("unknown",),)},
        "a str for `mask`": {"mask": (("str",),)},
        "an `input` of float64": {"input": (("float64",), ("float32",))},
        "no `unread`": {"unread": (("missing",),)},
        "the name of a node, `input_1`": {"input_1": (("unknown",),)},
        "four faults": {
            "len": (("int32",), ("float32",)),
            "input": (("(5, 1)", "[5, 1]"), ("(5, 4)", "[5, 4]")),
            "unread": (("missing",),),
            "scales": (("unknown",),),
        },
        "no `weight`, which has no example": {"weight": (("missing",),)},
        "no `weight`": {"weight": (("missing",),)},
        "no `rows`": {"rows": (("missing",),)},
        "no input at all": {"rows": (("missing",),), "mask": (("missing",),)},
        "None for `mask`": {"mask": (("NoneType",),)},
        "two unknown inputs": {"weights": (("unknown",),), "bias": (("unknown",),)},
        "the name of a layer, `score`": {"score": (("unknown",),)},
        "an nn.Parameter of shape (5,) for `mask`": {"mask": shapes},
        "a `shift` of shape (5,)": {"shift": (("(5,)", "[5]"), ("(4,)", "[4]"))},
    }
    faults_of = check_of("07_placeholder.inputs_by_name").faults_of
    for _, model, _ in made("07-inputs-by-name"):
        for situation in model.situations():
            found = faults_of(model, model.examples(), situation.values)
            assert found == wanted.get(situation.name, {}), situation.name


@pytest.mark.parametrize("exercise", tasks.all_exercises(), ids=lambda exercise: exercise.id)
def test_the_order_of_the_cases_is_drawn_where_the_answer_is_data(exercise: Exercise) -> None:
    orders = [drawn_order(exercise, seed) for seed in range(1000)]
    places = list(range(len(exercise.usage.cases)))
    assert all(sorted(order) == places for order in orders)
    assert orders == [drawn_order(exercise, seed) for seed in range(1000)]
    drawn = exercise.usage.use == "compute" and len(places) > 1
    assert all(len({order[place] for order in orders}) == (len(places) if drawn else 1) for place in places)
