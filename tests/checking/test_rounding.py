"""The bound on rounding holds, is small, and is far below both the tolerance and the effect of a mistake."""

from __future__ import annotations

import copy
import importlib
import re

import pytest
import torch
from torch import fx, nn

from fxbook import tasks
from fxbook.cases.exercise import inputs_of, model_of
from fxbook.surgery.rounding import error_bound
from press import ROOT
from press.book import the_book

SEEDS = range(4)
# The relative tolerance of fxbook.cases.values for results in float64.
TOLERANCE = 1e-8
folded = importlib.import_module("fxbook.tasks.P1_one_model.fold_the_norms.answers")


def network(seed: int) -> tuple[fx.GraphModule, list[torch.Tensor]]:
    """The network of the project's exercise on folding, and its inputs, in float64."""
    exercise = tasks.find("P1-fold-the-norms")
    assert exercise
    case = exercise.usage.cases[0]
    return fx.symbolic_trace(model_of(case, seed)), list(inputs_of(case, seed)[0])


@pytest.mark.parametrize("seed", SEEDS)
@torch.no_grad()
def test_results_are_within_the_bound(seed: int) -> None:
    traced, inputs = network(seed)
    exact = traced(*inputs)
    small = copy.deepcopy(traced)
    folded.fold(small)
    for module in (traced, small):
        bound = error_bound(module, [value.float() for value in inputs])
        off = float((copy.deepcopy(module).float()(*(value.float() for value in inputs)) - exact).abs().max())
        assert 0 < off <= bound < 1e-2


@pytest.mark.parametrize("seed", SEEDS)
@torch.no_grad()
def test_folding_check_accepts_rounding_but_not_a_missing_eps(seed: int) -> None:
    traced, inputs = network(seed)
    careless = copy.deepcopy(traced)
    folded.forgets_eps(careless)
    assert 2 * error_bound(traced, inputs, torch.float64) < TOLERANCE / 1000
    exact = traced(*inputs)
    assert (careless(*inputs) - exact).abs().max() > 100 * TOLERANCE * max(1.0, float(exact.abs().max()))


def test_unbounded_operations_are_rejected() -> None:
    traced = fx.symbolic_trace(nn.Sequential(nn.Linear(3, 3), nn.Softmax(1)))
    with pytest.raises(NotImplementedError, match="Softmax"):
        error_bound(traced, [torch.randn(2, 3)])


@pytest.mark.parametrize("setting", [{"alpha": 0.3}, {"rounding_mode": "floor"}])
def test_operations_that_round_more_than_once_are_rejected(setting: dict[str, float | str]) -> None:
    function = torch.add if "alpha" in setting else torch.div
    traced = fx.symbolic_trace(lambda x: function(x, x + 1, **setting))
    with pytest.raises(NotImplementedError, match="no bound is known"):
        error_bound(traced, [torch.randn(2, 3)])


def test_sums_too_long_for_a_dtype_have_no_bound() -> None:
    traced = fx.symbolic_trace(nn.Sequential(nn.Linear(2100, 1)))
    ones = [torch.ones(1, 2100)]
    assert error_bound(traced, ones) > 0
    with pytest.raises(ValueError, match="no bound: 2109 roundings in a row are too many"):
        error_bound(traced, ones, torch.float16)


def test_project_states_the_numbers_of_its_solution() -> None:
    notebook = the_book().stored(ROOT / "solutions" / "P1_one_model.ipynb")
    printed = "".join(out.get("text", "") for cell in notebook.cells for out in cell.get("outputs", ()))
    rows = re.findall(r"^(\w+) +at first +(\S+) +book +(\S+) +yours +(\S+)$", printed, re.MULTILINE)
    assert [name for name, *_ in rows] == ["nodes", "flops", "peak", "bound"]
    assert all(book == yours for _, _, book, yours in rows)
    [percent] = re.findall(r"^largest error: at most (\d+) % of the allowed 2.5e-04$", printed, re.MULTILINE)
    assert 0 < int(percent) <= 100


def test_project_states_the_numbers_of_its_network() -> None:
    sheet = the_book().sheet_of("P1_one_model")
    names: dict[str, object] = {}
    sources = [cell.source for cell in sheet.opening if cell.kind == "code"]
    sources += [cell.source for one in sheet.exercises for cell in one.solution if "check(" not in cell.source]
    last = next(source for source in sources if source.startswith("NAMES"))
    for source in sources[: sources.index(last)]:
        exec(source, names)
    exec(last.partition("steps =")[0], names)
    first = """
read = read_it(resnet)
found = measure(read, as_list(read, inputs()))
found["bound"] = float(f"{error_bound(read, list(inputs().values())):.1e}")
"""
    exec(first, names)
    assert names["found"] == names["FIRST"]
