"""The judge outside the sandbox agrees with `check` on honest answers and believes no forged observation."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, fx

from classroom.judge import judging
from classroom.judge.claims import CLAIMS
from classroom.judge.judging import Judgement
from classroom.tests.sandbox.sandboxing import judge_apart
from fxbook.cases import Exercise
from fxbook.cases.running import one_thread
from fxbook.catalogue import about
from fxbook.checking.again import looking_inside
from fxbook.checking.judge import Inside, judge, nothing_inside
from fxbook.learning.sheets import observe_answer, read
from fxbook.observing.forked import run_in_child
from fxbook.observing.observe import observe
from fxbook.observing.prepare import Prepared, prepare
from fxbook.tasks import all_exercises, find
from fxbook.tasks.answering import answers_to
from press import ROOT
from tests.checking.exercise_for_tests import RELU_AFTER_LINEAR, right

JSON = Any
SEED = 4
# More than any test needs, however slow the machine.
ENOUGH_SECONDS = 600
COMPUTES = "what the graph computes"
# The only exercise whose answer calls the student's own function, which the grader does not run.
OWN_FUNCTION = "05-wrap-the-loop"
# An answer that violates this rule may hang, so there is no observation.
ENDS_WELL = "ends well"
with_each_exercise = pytest.mark.parametrize("identity", [exercise.id for exercise in all_exercises()])
with_each_graph = pytest.mark.parametrize(
    "identity", [exercise.id for exercise in all_exercises() if exercise.usage.use != "compute"]
)


@pytest.fixture(autouse=True, scope="module")
def on_one_thread() -> Iterator[None]:
    """As in the child: on a busy machine, small models wait for threads longer than they compute."""
    with one_thread():
        yield


def known(identity: str) -> Exercise:
    exercise = find(identity)
    assert exercise
    return exercise


def observed(exercise: Exercise, answer: Any, seed: int = SEED) -> JSON:
    """What a sandbox would send, after a round trip through JSON."""
    return observed_on(prepare(exercise, seed, rebuildable=True), answer)


def observed_on(prepared: Prepared, answer: Any) -> JSON:
    outcome = run_in_child(functools.partial(observe, prepared, answer), ENOUGH_SECONDS)
    assert outcome.data is not None, outcome.ended
    return outcome.data


def right_answer(identity: str) -> Any:
    """The first right answer."""
    return next(answer.answer for answer in answers_to(identity) if not answer.violated)


def agree(exercise: Exercise, observation: JSON, seed: int = SEED, inside: Inside = nothing_inside) -> JSON:
    """Assert that both judges agree, word for word."""
    judgement = judge_apart(exercise, observation, seed)
    expected = judging._as_json(exercise, Judgement(judge(exercise, observation, seed, inside=inside)))
    assert json.dumps({**judgement, "unproven": []}) == json.dumps(expected)
    return judgement


# ---- honest answers --------------------------------------------------------------------------------------------------


@functools.cache
def solutions(chapter: str) -> Any:
    return read(ROOT / "solutions" / f"{chapter}.ipynb")


@with_each_exercise
def test_printed_solution_passes(identity: str) -> None:
    entry = about(identity)
    prepared = prepare(known(identity), SEED, rebuildable=True)
    work = functools.partial(observe_answer, solutions(entry.chapter), prepared, entry.answer)
    report = run_in_child(work, ENOUGH_SECONDS).data
    assert report["failed"] == []
    judgement = agree(known(identity), report["observation"])
    assert not rule(judgement)
    assert_unproven(known(identity), judgement)


def assert_unproven(exercise: Exercise, judgement: JSON) -> None:
    """Everything that a graph does is computed again; data is taken as returned."""
    beyond = [claim for claim in judgement["unproven"] if claim.startswith(COMPUTES)]
    assert len(beyond) == (exercise.id == OWN_FUNCTION), beyond
    assert (CLAIMS["value"] in judgement["unproven"]) == (exercise.usage.use == "compute")


@with_each_graph
def test_both_judges_agree_on_wrong_answers(identity: str) -> None:
    """For the first wrong answer; tests/cold judges more of them in the sandbox."""
    answer = next(answer for answer in answers_to(identity) if answer.violated not in ("", ENDS_WELL))
    # A notebook looks inside by running the answer again; the judge uses the rebuilt graph.
    inside = looking_inside(known(identity), SEED, functools.partial(observed_on, answer=answer.answer))
    judgement = agree(known(identity), observed(known(identity), answer.answer), inside=inside)
    assert rule(judgement) == answer.violated, answer.name
    assert judgement["unproven"] == []


def test_graph_that_differs_when_used_again_is_judged_as_observed() -> None:
    """The exercise edits what an answer returns and calls the answer again; this one rebuilds the graph each time."""
    exercise = known("01-lift-constants")
    answer = next(one for one in answers_to(exercise.id) if one.name == "rebuilds_the_known_graph")
    judgement = agree(exercise, observed(exercise, answer.answer))
    assert rule(judgement) == answer.violated


# ---- forged reports --------------------------------------------------------------------------------------------------


def wrong(module: fx.GraphModule) -> None:
    """Uses tanh instead of relu."""
    right(module)
    for node in module.graph.nodes:
        node.target = torch.tanh if node.target is torch.relu else node.target
    module.recompile()


@pytest.fixture(scope="module")
def good() -> JSON:
    return observed(RELU_AFTER_LINEAR, right)


@pytest.fixture(scope="module")
def bad() -> JSON:
    return observed(RELU_AFTER_LINEAR, wrong)


def forged(observation: JSON, forge: Callable[[JSON], Any]) -> JSON:
    """Forge something in every case."""
    copied = copy.deepcopy(observation)
    for case in copied["cases"]:
        forge(case)
    return copied


def judged(observation: JSON) -> JSON:
    return judge_apart(RELU_AFTER_LINEAR, observation, SEED)


def rule(judgement: JSON) -> str:
    return judgement["rule"]


@pytest.mark.parametrize(
    "taken", [("outputs",), ("outputs", "graph"), ("outputs", "graph", "shared", "modules", "kind")]
)
def test_wrong_graph_fails_whatever_is_claimed(good: JSON, bad: JSON, taken: tuple[str, ...]) -> None:
    lies = copy.deepcopy(bad)
    for case, true in zip(lies["cases"], good["cases"], strict=True):
        case.update({key: true[key] for key in taken})
    assert judge(RELU_AFTER_LINEAR, lies, SEED).passed, "the plain judge believes it: this test needs another lie"
    assert rule(judged(lies)) == "calls"


def test_right_graph_passes_whatever_is_claimed(good: JSON) -> None:
    lies = forged(good, lambda case: case.update(outputs=None, run_error="ValueError: a lie", run_node=0, kind="None"))
    assert not judge(RELU_AFTER_LINEAR, lies, SEED).passed
    assert not rule(judged(lies))


@pytest.mark.parametrize("ends", ["in a case", "in the observation"])
def test_claimed_error_of_the_check_passes_nothing(good: JSON, bad: JSON, ends: str) -> None:
    error = {"type": "AttributeError", "message": "no such name", "line": None, "loading": False, "own": True}
    for observation in (good, bad):
        lies: JSON = {**observation, "error": error}
        if ends == "in a case":
            lies = forged(observation, lambda case: case.update(error=error))
        judgement = judged(lies)
        said = "The check fails on the result of your answer (AttributeError: no such name). If this happens"
        assert judgement["message"].startswith(said) or rule(judgement) == rule(judged(observation)) != ""
        assert rule(judgement) and not judgement["line"] and not judgement["unproven"]


@pytest.mark.parametrize(
    "forge",
    [
        lambda case: case.pop("wire"),
        lambda case: case.update(wire=None),
        lambda case: case.update(wire={"kind": "GraphModule"}),
        lambda case: case.update(graph=None, outputs=None),
        lambda case: case["origins"].pop(),
        lambda case: case.update(origins=[99] * len(case["origins"])),
        lambda case: case["wire"]["nodes"].pop(),
    ],
)
def test_impossible_observations_fail(good: JSON, forge: Callable[[JSON], Any]) -> None:
    assert rule(judged(forged(good, forge))) == "readable"


def test_graph_that_cannot_be_rebuilt_is_reported(bad: JSON, good: JSON, tmp_path: Path) -> None:
    stolen = tmp_path / "stolen"

    def forge(case: JSON) -> None:
        node = next(node for node in case["wire"]["nodes"] if node["op"] == "call_function")
        node.update(target={"function": "os.system"}, args={"tuple": [f"touch {stolen}"]})

    judgement = judged(forged(good, forge))
    assert not rule(judgement)
    assert judgement["unproven"][0] == f"{COMPUTES}: node `relu` calls `os.system`"
    assert rule(judged(forged(bad, forge))) == "calls", "what is claimed is judged all the same"
    assert not stolen.exists()


def test_claims_behind_a_verdict_are_reported(good: JSON) -> None:
    assert judged(good)["unproven"] == [CLAIMS["stale"], CLAIMS["origins"]]
    assert rule(judged(forged(good, lambda case: case["graph"].update(stale=True)))) == "recompiled"
    assert rule(judged(forged(good, lambda case: case.update(origins=[None] * len(case["origins"]))))) == "edited"


def test_stale_insertion_point_is_found(good: JSON) -> None:
    """The insertion point is rebuilt with the graph rather than believed."""
    left_behind = forged(good, lambda case: case["wire"].update(inserts={"before": 0}))
    assert rule(judged(left_behind)) == "inserts_at_the_end"


def test_compute_exercise_ignores_forged_graphs() -> None:
    exercise = known("00-readers")
    observation = observed(exercise, right_answer(exercise.id))
    lies = forged(observation, lambda case: case.update(graph={"nodes": []}, outputs=[1, 2]))
    assert judge_apart(exercise, lies, SEED)["unproven"] == [CLAIMS["value"], CLAIMS["changes"]]


# ---- data of any form ------------------------------------------------------------------------------------------------

NESTED: JSON = functools.reduce(lambda inner, _: [inner], range(100_000), 1)
JUNK = [None, True, -1, 10**4000, float("nan"), "", "\ud800", [], {}, [[None]], {"tuple": 5}, {"dict": [[1]]}, NESTED]


@pytest.mark.parametrize("key", ["exercise", "problem", "error", "cases", "printed", "replaced"])
def test_any_observation_is_judged(good: JSON, key: str) -> None:
    rules = {rule(judged(junk)) for junk in JUNK}
    assert rules == {"readable"}
    rules = {rule(judged({**good, key: junk})) for junk in JUNK}
    assert rules <= {"", "readable", "leaves torch alone", "usable", "ends well"}
    assert "readable" in rules


def test_random_operations_are_reproduced() -> None:
    exercise = known("03-drop-dropout")
    answer = right_answer(exercise.id)

    def noisy(module: fx.GraphModule) -> Tensor | None:
        result = answer(module)
        graph = (result if isinstance(result, fx.GraphModule) else module).graph
        output = graph.output_node()
        with graph.inserting_before(output):
            output.args = (graph.call_function(torch.dropout, (output.args[0], 0.5, True)),)
        module.recompile()
        return result

    observation = observed(exercise, noisy)
    outputs = [case["outputs"] for case in observation["cases"]]
    assert outputs[0] and outputs[0][0] != outputs[0][1]
    agree(exercise, observation)
