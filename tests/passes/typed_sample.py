"""A sample for type checkers, which uses every public name of the tools. Nothing runs it."""

from __future__ import annotations

from typing import assert_type

import torch
from hypothesis import given
from torch import fx
from torch.fx.passes.infra.pass_base import PassResult

import fxbook
from fxbook import (
    EditStepper,
    Lab,
    RunStepper,
    bisect,
    bisect_changes,
    check,
    check_pass,
    diff,
    draw,
    expect_error,
    front_ends,
    hint,
    how_often,
    inputs_for,
    invariants,
    minimise,
    random_graph,
    random_graphs,
    run_passes,
    write_repro,
)


def nothing(module: fx.GraphModule) -> PassResult:
    return PassResult(module, False)


def one_change(module: fx.GraphModule, at_most: int) -> PassResult:
    return PassResult(module, at_most > 0)


def fails(module: fx.GraphModule) -> bool:
    return not diff(module, nothing(module).graph_module)


@given(random_graphs(steps=5))
def test_nothing(module: fx.GraphModule) -> None:
    check_pass(nothing, module, inputs_for(module, rows=2), keep=["values", invariants.lint]).require()
    invariants.values(nothing, module, rtol=1e-6)


module = random_graph(3, dtype=torch.float32)
small = assert_type(minimise(module, fails, most=100), fx.GraphModule)
for culprit in (bisect(small, [nothing], fails), bisect_changes(small, one_change, fails)):
    if culprit is not None and culprit.after is not None:
        assert_type(culprit.index, int)
        assert_type(diff(culprit.before, culprit.after, meta=False).text(context=0), str)

print(how_often(nothing, graphs=10), write_repro(small, "repro.py"))
assert_type(run_passes(module, [nothing], without="nothing").module, fx.GraphModule)
EditStepper(module.graph, "as drawn").frame("again")
print(draw(module, order="data"), RunStepper(module, *inputs_for(module)))
assert_type(front_ends(torch.nn.ReLU(), torch.ones(2))["make_fx"].verdict, str)
with expect_error(RuntimeError, "not defined", lines=2):
    small.graph.lint()
assert_type(check("00-readers", nothing).passed, bool)
assert_type(hint("00-readers").text, str)
assert_type(Lab.puzzles("one-anchor"), Lab)
assert_type(fxbook.__version__, str)
fxbook.misspelt  # type: ignore[attr-defined]  # noqa: B018
