"""A report contains the failed case, to inspect, draw and run again; a grader does not reveal that case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn

from classroom.judge.judging import judged
from classroom.sandbox.inside import unchecked
from fxbook import catalogue, check
from fxbook.cases import Case, traced
from fxbook.checking import check_with, new_seed
from fxbook.graph.record import record
from fxbook.learning.watching.attempt import attempt
from fxbook.observing.observe import observe
from fxbook.observing.prepare import prepare
from tests.checking.exercise_for_tests import DEEP, RELU_AFTER_LINEAR, SHALLOW, an_exercise, changed, right, value_is

COUNT = an_exercise("99-count", "compute", (SHALLOW, DEEP), (value_is(lambda m: len(m.graph.nodes)),), given=traced)


def knows_two_layers(module: fx.GraphModule) -> None:
    if len(module.graph.nodes) < 5:
        right(module)


def raises_on_many(module: fx.GraphModule) -> int:
    if len(module.graph.nodes) > 5:
        raise KeyError("layers.4")
    return len(module.graph.nodes)


def test_failed_case_has_model_and_inputs() -> None:
    case = check_with(RELU_AFTER_LINEAR, knows_two_layers, seed=1).case
    assert case is not None and case.name == "five layers"
    (module,) = case.arguments
    assert isinstance(module, fx.GraphModule) and len(case.model.layers) == 5
    assert record(case.graph).nodes == record(module).nodes
    with torch.no_grad():
        assert torch.equal(module.forward(*case.inputs), case.model(*case.inputs))
    assert repr(case).startswith("five layers: answer(")
    assert "The graph of five layers" in case._repr_html_()


def test_failed_case_is_recreated_at_each_access() -> None:
    case = check_with(RELU_AFTER_LINEAR, knows_two_layers, seed=1).case
    (module,), (other,) = case.arguments, case.arguments
    right(module)
    assert module is not other
    assert len(module.graph.nodes) == 12 and len(other.graph.nodes) == len(case.graph.nodes) == 7
    weights = [dict(built.named_parameters()) for built in (case.model, case.model)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[1])
    assert case.use(lambda module: len(module.graph.nodes)) == 7


def test_report_on_data_shows_the_given_graph() -> None:
    for answer in (lambda module: 4, raises_on_many):
        report = check_with(COUNT, answer, seed=1)
        text, page = repr(report), report._repr_html_()
        assert "The graph that your code was given (five layers):" in text and "self.layers.4(layers_3)" in text
        assert "The graph that your code was given (five layers)" in page and "fx-node" in page


def test_script_and_watch_explain_the_failed_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = check("00-readers", lambda graph: 3, seed=1)
    printed = capsys.readouterr().out
    print(report)
    assert printed == capsys.readouterr().out
    (tmp_path / "00_first_graph.py").write_text("# %%\ndef layers_in_order(*_):\n    return 3\n", encoding="utf-8")
    about = catalogue.catalogue()["00-layers-in-order"]
    text = attempt(tmp_path, about).text
    report_text, _, line = text.partition("\nTo get the case that failed: ")
    seed = int(line.partition("seed=")[2].partition(")")[0])
    assert line == f'check("00-layers-in-order", layers_in_order, seed={seed}).case'
    held = check("00-layers-in-order", lambda *_: 3, seed=seed)
    assert repr(held) == report_text and held.case is not None


def test_the_environment_gives_the_seed_of_checks_and_of_watching(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FXBOOK_SEED", "7")
    first, again = (check_with(RELU_AFTER_LINEAR, knows_two_layers) for _ in range(2))
    assert first.case is not None and first.case.seed == 7 and repr(first) == repr(again)
    (tmp_path / "00_first_graph.py").write_text("# %%\ndef layers_in_order(*_):\n    return 3\n", encoding="utf-8")
    assert "seed=7)" in attempt(tmp_path, catalogue.catalogue()["00-layers-in-order"]).text
    given = check_with(RELU_AFTER_LINEAR, knows_two_layers, seed=3).case
    assert given is not None and given.seed == 3


@pytest.mark.parametrize("seed", ["", "seven", "-1", "1.5", "²"])
def test_invalid_seed_is_ignored(seed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FXBOOK_SEED", seed)
    seeds = {new_seed() for _ in range(3)}
    assert len(seeds) == 3 and all(0 <= seed < 2**31 for seed in seeds)


# ---- untrusted answers -----------------------------------------------------------------------------------------------

SECRET = Case("a model that nobody is to see", lambda: nn.Sequential(nn.Linear(4, 7)), lambda: (torch.randn(1, 4),))
KEYS = {"rule", "message", "node", "read", "case", "line", "printed", "graph", "unproven"}


@pytest.mark.parametrize("answer", [lambda module: 3, raises_on_many, lambda module: 1 / 0])
def test_grader_reveals_no_hidden_case(answer: Any) -> None:
    hidden = changed(COUNT, cases=(SECRET,), rules=COUNT.check.rules)
    observation = observe(prepare(hidden, 1, rebuildable=True), answer)
    verdict = judged(hidden, observation, 1)
    assert set(verdict) == KEYS
    # A learner's own check shows the given graph, but here the case is secret.
    assert verdict["graph"] is None
    assert "Linear" not in json.dumps(verdict) and "placeholder" not in json.dumps(verdict)
    assert "inside" not in json.dumps(observation["cases"]) or observation["cases"][0]["inside"] is None


def test_check_inside_a_submission_has_no_case() -> None:
    report = unchecked.check("00-readers", lambda graph: 3)
    assert report.case is None and repr(report) == "not checked here"
