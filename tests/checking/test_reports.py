"""What a report shows besides its message: the graph with the blamed node, printed lines, and torch's messages."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import nbclient
import pytest
import torch
from nbformat import v4
from torch import fx, nn

from fxbook.cases import Case, traced
from fxbook.catalogue import About
from fxbook.checking import check_with
from fxbook.checking.judge import Verdict
from fxbook.checking.printed import told
from fxbook.checking.report import Report
from fxbook.graph.record import record
from fxbook.observing.blame import describe
from fxbook.rules.predicates import same_result
from fxbook.rules.rule import Found, Violation, configurable, rule
from fxbook.rules.view import CaseView
from press import ROOT
from press.printing.kernels import own_socket
from tests.checking.exercise_for_tests import DEEP, SHALLOW, Stack, an_exercise
from tests.checking.test_in_a_script import run

LONG = Case("twenty layers", lambda: Stack(4, 20), lambda: (torch.randn(3, 4),))


@configurable
def says(case: CaseView, sentence: str) -> Found:
    """Always violated."""
    yield None, sentence


def report_that(sentence: str, answer: Callable[[fx.GraphModule], Any], use: str = "compute") -> Report:
    """A report with this sentence, on twenty layers."""
    cases = (LONG, dataclasses.replace(DEEP, unseen=True))
    return check_with(an_exercise("99-x", use, cases, (says(sentence),), given=traced), answer, seed=1)


# ---- the blamed node -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sentence", ["Node `layers_16` is missing.", "It lacks node `layers_16`.", "Nodes `layers_16`."]
)
def test_named_node_is_visible_and_marked(sentence: str) -> None:
    report = report_that(sentence, lambda module: 1)
    assert "?  17  layers_16  call_module" in repr(report) and "more above" in repr(report)
    assert "fx-meant" in report._repr_html_()
    # The answer has no graph, so this is not its node.
    assert report.node is None


def test_unknown_node_name_marks_nothing() -> None:
    text = repr(report_that("Node `relu` is missing, and `layers_16` is not.", lambda module: 1))
    assert "?" not in text and "… 10 more below" in text


def test_given_graph_is_shown_for_a_deleted_node() -> None:
    given = record(fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Tanh())))
    without = record(fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2))))

    def shown(graph: Any, message: str, at: int | None) -> str:
        violation = Violation(message, rule="stays", given=at)
        return repr(Report(About("99-x", "x"), Verdict(violation, 0, graph, given)))

    text = shown(without, "Node `_2` is gone, which is a layer.", 3)
    assert "The graph that your code was given:" in text and "?   3  _2" in text and "Your graph" not in text
    assert "Your graph:" in shown(given, "Node `_2` is gone, which is a layer.", 3)


@rule
def sound(case: CaseView) -> Found:
    """No node calls matmul."""
    for node in case.nodes:
        if node.target == "torch.matmul":
            yield node, "multiplies, which the task does not ask for"


def test_raising_node_is_marked_only_with_its_error() -> None:
    def multiplies(module: fx.GraphModule) -> None:
        output = module.graph.output_node()
        with module.graph.inserting_before(output):
            output.args = (module.graph.call_function(torch.matmul, (output.args[0], "x")),)
        module.recompile()

    marks = {}
    for one in (sound, same_result):
        exercise = an_exercise("99-x", "edit", (SHALLOW, DEEP), (one,))
        report = check_with(exercise, multiplies, seed=1)
        assert report.node is not None and report.node.name == "matmul"
        marks[one.name] = next(line[0] for line in repr(report).splitlines() if " matmul " in line)
    assert marks == {"sound": "?", "same_result": "!"}


# ---- printed lines ---------------------------------------------------------------------------------------------------

TORCH = f"{torch.__file__}:1776: "
CELL = "/tmp/ipykernel_7/42.py:3: "
DEPRECATED = "FutureWarning: `isinstance(treespec, LeafSpec)` is deprecated."
USED = "UserWarning: Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule!"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n  \n", []),
        ("one\n", ["It printed: one"]),
        ("one\ntwo\n", ["It printed: one …"]),
        (f"{TORCH}{DEPRECATED}\n  warnings.warn(\n", []),
        (f"{TORCH}{DEPRECATED}\n  warnings.warn(\n544\n", ["It printed: 544"]),
        (f"{CELL}{DEPRECATED}\n  leaf(tree)\n", [f"It warned: {DEPRECATED}"]),
        (f"{CELL}{USED}\n  graph.get_attr('scale')\n", [f"It warned: {USED}"]),
        # torch's warnings name a line of torch for much that the learner's graph causes; reports leave the line out.
        (f"{TORCH}{USED}\n  warnings.warn(\n", [f"It warned: {USED}"]),
        (f"/home/a b/answer.py:3: {USED}\n", [f"It warned: {USED}"]),
        (f"C:\\Users\\a b\\answer.py:3: {USED}\n", [f"It warned: {USED}"]),
        (f"one\n{CELL}{USED}\n  f()\n{CELL}{USED}\n  f()\n", ["It printed: one", f"It warned: {USED} …"]),
        ("UserWarning: mine\n", ["It printed: UserWarning: mine"]),
    ],
)
def test_printed_lines_omit_paths_and_torch_internals(text: str, lines: list[str]) -> None:
    assert told(text) == lines


def test_printed_lines_are_short_and_printable() -> None:
    lines = told(f"\x1b[2J\x1b]0;owned\x07{'x' * 5000}\r{CELL}UserWarning: \x1b[31m{'<b>`' * 5000}\n")
    assert len(lines) == 2 and all(len(line) < 330 and line.isprintable() for line in lines)
    report = Report(
        About("99-x", "x"), Verdict(Violation("No.", rule="no"), printed="<script>`\n" + CELL + "UserWarning: <b>`")
    )
    assert "<script>" not in report._repr_html_() and "<b>" not in report._repr_html_()


WARNS = """
import warnings
from fxbook import check

def answer(*_):
    warnings.warn("mind the gap")
    return 3

check("00-readers", answer)
"""


def test_warnings_look_the_same_in_scripts_and_notebooks(tmp_path: Any) -> None:
    script = tmp_path / "an answer.py"
    script.write_text(WARNS, encoding="utf-8")
    notebook = v4.new_notebook(cells=[v4.new_code_cell(WARNS)])
    nbclient.NotebookClient(notebook, kernel_name="python3", config=own_socket()).execute(cwd=str(ROOT))
    for text in (run(str(script)), notebook.cells[0].outputs[-1]["data"]["text/plain"]):
        (line,) = [line for line in text.splitlines() if "mind the gap" in line]
        assert line.startswith("It warned: UserWarning: mind the gap")


# ---- torch's messages ------------------------------------------------------------------------------------------------


def described(change: Callable[[], Any]) -> str:
    try:
        change()
    except Exception as error:
        return str(describe(error)["message"])
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        ("one\ntwo", "one"),
        ("one,\ntwo\nthree", "one, two"),
        ("keys:\n\tone,\n\ttwo\n\tthree", "keys: one, two"),
        ("for example:\n\n    f()", "for example"),
        ("", ""),
    ],
)
def test_first_sentence_of_a_message_is_shown(raised: str, message: str) -> None:
    def fails() -> None:
        raise ValueError(raised)

    assert described(fails) == message
