"""Judge an observation from the sandbox, and trust as little of it as possible.

A student's code runs in the process that observes it, so it can write any observation. Here the graph is rebuilt from
an allow-list (:mod:`classroom.judge.rebuild.graph`), and its properties are computed again: its nodes and the result of
``lint``, its outputs on the inputs from the same seed, or the error and the node that raises it, its submodules, and
which of its weights belong to the model. The computed values replace the claimed ones, and then
:func:`fxbook.checking.judge.judge` judges as in a notebook.

All input is untrusted, and torch's kernels do not check all of theirs. So this runs in a room of the sandbox
(:mod:`classroom.sandbox.inside.judging`), in one process per answer, and never in the grader.

An answer can still forge the following, because only running the student's code again could disprove it:

- ``value``: the return value of the answer to a "compute" exercise. All exercises of chapters 04 and 08 are of this
    kind.
- ``outputs``, ``run_error``, ``run_node``, the record of the graph and ``modules``, for a graph that cannot be rebuilt:
  it calls a student's own function or registered operator or anything else that is not on the list; it contains the
  student's own class, hooks, or more than 8 MiB; or it was exported.
- ``stale``: that ``forward`` was compiled from this graph. A rebuilt graph is always compiled.
- ``changes`` and ``same_object``: what happened to the given model, and whether it was returned.
- ``shared``: that weights of the result are the model's own objects. Different values are detected.
- ``origins``: which nodes belong to the given graph, and which are new copies.
- ``replaced``: the claim that nothing in torch or in the checks was replaced. A replacement cannot reach this process.
- ``left``: that torch's modes, the inputs, and the hooks, modes and weights of the model are unchanged.
- ``printed``, ``problem`` and ``error``, which can only cost points; also that the check itself raised an error.
- In "Choose without if", what the function itself, as opposed to its trace, does to its batch.
- Everything, if a graph of allowed functions exploits a bug in torch's kernels and takes over the room's process. It
  gets what it claims for that one answer, as with a function that is not on the list, but nobody is told.
- In "Every ReLU becomes GELU", that a refusal was raised rather than returned. In general, how a graph was made: code
  that knows the cases may return the expected graph for each. Hidden variants prevent that.

``Judgement.unproven`` names each of these that a passing verdict relies on; it is empty for a failing verdict.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from torch import fx, nn

from classroom.judge.claims import CLAIMS, are_origins, is_bounded
from classroom.judge.rebuild.graph import rebuild
from classroom.judge.rebuild.values import RefusedError, UnreadableError
from fxbook.grading import (
    CHECK_WORKS,
    CaseFacts,
    Exercise,
    Trial,
    UnreadableObservationError,
    Value,
    Verdict,
    Violation,
    forked,
    judge,
    judge_facts,
    model_of,
    observe_graph,
    observe_inside,
    own_error,
    quick_errors,
    read_observation,
    trials_of,
    weights_of,
)
from fxbook.graph.naming import callable_name
from fxbook.graph.record import GraphRecord

JSON = Any
Again = Callable[[int], list[Value] | None]
_GRAPHS = ("Graph", "GraphModule")
_MOST_SAID, _MOST_NAME, _MOST_SCOPE, _MOST_GRAPH = 4000, 300, 200, 200_000


@dataclasses.dataclass(frozen=True)
class Judgement:
    """A verdict, and the claims it relies on without proof, in words for a teacher; the most serious first."""

    verdict: Verdict
    unproven: tuple[str, ...] = ()


def judged(exercise: Exercise, observation: JSON, seed: int) -> JSON:
    """Judge an observation that :func:`fxbook.observing.observe.observe` wrote with ``rebuildable=True``.

    Args:
        exercise: the exercise, or a variant with other cases.

    Returns:
        The judgement as JSON for any observation: the texts ``"rule"`` (empty if everything holds), ``"message"``,
        ``"node"`` (its name), ``"read"``, ``"case"`` (its name), ``"line"`` and ``"printed"``, the ``"graph"`` as
        :class:`GraphRecord` writes it, and ``"unproven"``. What cannot be judged fails with the rule ``"readable"`` or
        ``"ends well"``, or ``"the check works"`` if one of the book's checks raises an error on it.
    """
    try:
        judgement = judgement_of(exercise, observation, seed)
    except MemoryError:
        forked.spare_memory()
        judgement = _failed("The grader needs more memory for your answer than is allowed.", "ends well")
    except Exception as error:
        # Either the data is forged, or the rule has a bug.
        judgement = _failed_on(f"{type(error).__name__}: {error}")
    # Replace unpaired surrogates, which a report could not contain.
    return json.loads(json.dumps(_as_json(exercise, judgement), ensure_ascii=False).encode("utf-8", "replace"))


def _as_json(exercise: Exercise, judgement: Judgement) -> JSON:
    verdict, violation = judgement.verdict, judgement.verdict.violation
    graph = verdict.graph if violation else None
    written = graph.to_json() if graph is not None else None
    at = violation.node if violation else None
    return {
        "rule": violation.rule if violation else "",
        "message": violation.message[:_MOST_SAID] if violation else "",
        "node": graph.nodes[at].name[:_MOST_NAME] if graph is not None and at is not None else "",
        "read": (violation.see or "") if violation else "",
        "case": exercise.usage.cases[verdict.case].name if violation and verdict.case is not None else "",
        "line": (verdict.line or "")[:_MOST_NAME],
        "printed": verdict.printed[:_MOST_SAID],
        "graph": written if len(json.dumps(written)) <= _MOST_GRAPH else None,
        "unproven": list(judgement.unproven),
    }


def _failed_on(problem: str) -> Judgement:
    """A check failed here or, as claimed, during observation; one answer cannot show whether the check is wrong."""
    return _failed(
        f"The check fails on the result of your answer ({problem[:200]}). If this happens to others too, "
        "the check is wrong: please report it.",
        CHECK_WORKS,
    )


def _failed(message: str, rule: str) -> Judgement:
    return Judgement(Verdict(Violation(message, rule=rule)))


def judgement_of(exercise: Exercise, observation: JSON, seed: int) -> Judgement:
    """The judgement as an object; otherwise like :func:`judged`.

    Raises:
        MemoryError, Exception: anything that a rule raises on forged data.
    """
    unreadable = Judgement(judge(exercise, None, seed))
    try:
        claimed = read_observation(observation) if is_bounded(observation) else None
    except UnreadableObservationError:
        claimed = None
    trials = trials_of(exercise, seed)
    if claimed is None or len(claimed.cases) > len(trials):
        return unreadable
    verified: list[CaseFacts] = []
    rebuilt: dict[int, Again] = {}
    refused: dict[str, list[str]] = {}
    for trial, case in zip(trials, claimed.cases, strict=False):
        try:
            verified.append(_verified(trial, case, functools.partial(rebuilt.__setitem__, len(verified))))
        except RefusedError as why:
            verified.append(case)
            refused.setdefault(str(why), []).append(trial.case.name)
        except UnreadableError:
            return unreadable
    looked_at: set[str] = set()
    # A graph that was not rebuilt is not searched for the first wrong node.
    inside = functools.partial(_inside, rebuilt)
    observation = msgspec.structs.replace(claimed, cases=verified)
    verdict = judge_facts(exercise, observation, seed, trials, looked_at, inside)
    if verdict.passed and any(case.graph and case.graph.stale for case in claimed.cases):
        # A stale module does not run the rebuilt graph's code, so its claimed behaviour must pass as well.
        verdict = judge_facts(exercise, claimed, seed, trials)
    if verdict.violation:
        failed = verdict.violation.rule == CHECK_WORKS
        return _failed_on(own_error(claimed)) if failed else Judgement(verdict)
    if not any(origin is not None for case in verified for origin in case.origins):
        looked_at.discard("origins")
    beside = [exercise.check.extra_output.unproven] if exercise.check.extra_output else []
    claims = (sentence for claim, sentence in CLAIMS.items() if claim in looked_at)
    return Judgement(verdict, (*_unverified(refused, len(verified)), *beside, *claims))


def _inside(rebuilt: Mapping[int, Again], case: int, draw: int) -> list[Value] | None:
    return rebuilt[case](draw) if case in rebuilt else None


def _unverified(refused: Mapping[str, Sequence[str]], cases: int) -> list[str]:
    """Describe each refusal to rebuild a graph: the claims about that graph are used without proof."""
    sentences = []
    for why, names in refused.items():
        more = f" and {len(names) - 1} more" if names[1:] else ""
        sentences.append(f"what the graph computes{'' if len(names) == cases else f' on {names[0]}{more}'}: {why}")
    return sentences


def _verified(trial: Trial, claimed: CaseFacts, keep: Callable[[Again], None]) -> CaseFacts:
    """Recompute everything in a case that its graph determines, using the rebuilt graph.

    Args:
        keep: receives a function that returns the values of the nodes for a draw of inputs, if the graph was rebuilt.

    Raises:
        RefusedError: the graph cannot be rebuilt.
        UnreadableError: this is not a case of an observation.
    """
    exercise = trial.exercise
    if exercise.usage.use == "compute":
        return msgspec.structs.replace(claimed, graph=None, outputs=None, run_error=None, run_node=None, origins=[])
    if claimed.graph is None:
        # A result that is not a graph has no other claims to verify.
        if claimed.kind in _GRAPHS:
            raise UnreadableError
        return claimed
    model, arguments = trial.start()
    given = next((item for item in arguments if isinstance(item, nn.Module)), None)
    root = given if given is not None else model
    weights = weights_of(model, root)
    if not are_origins(claimed.origins, given):
        raise UnreadableError
    result = rebuild(claimed.wire, root, functools.partial(_functions_of, trial, given))
    with quick_errors():
        used = _used(exercise, result, arguments)
        facts = observe_graph(used, root, weights, trial.case, trial.seed)
    assert facts.graph is not None
    if facts.outputs is not None:
        keep(functools.partial(observe_inside, used, root, trial.case, trial.seed))
    if len(facts.graph) != len(claimed.origins):
        if exercise.usage.call and len(claimed.graph) == len(claimed.origins):
            raise RefusedError("it is a different graph when it is used again")
        raise UnreadableError
    verified = msgspec.structs.replace(
        claimed,
        **msgspec.structs.asdict(facts),
        kind="GraphModule" if isinstance(result, fx.GraphModule) else "Graph",
    )
    verified = msgspec.structs.replace(verified, graph=_with_claims(facts.graph, claimed.graph))
    extra = exercise.check.extra_output
    return verified if extra is None else _with_claimed_part(verified, claimed, extra.name)


def _functions_of(trial: Trial, given: nn.Module | None) -> Mapping[str, Any]:
    graph = given.graph if isinstance(given, fx.GraphModule) else None
    if graph is None:
        try:
            graph = fx.symbolic_trace(model_of(trial.case, trial.seed)).graph
        except Exception:
            return {}
    return {callable_name(node.target): node.target for node in graph.nodes if node.op == "call_function"}


def _used(exercise: Exercise, result: fx.Graph | fx.GraphModule, arguments: tuple[Any, ...]) -> Any:
    """Use the result as the exercise uses an answer.

    Raises:
        RefusedError: it cannot be used in this way.
    """
    if exercise.check.extra_output:
        return exercise.check.extra_output.again(result)
    if exercise.usage.call is None:
        return result
    try:
        used = exercise.usage.call(lambda *_: result, *arguments)
    except Exception as error:
        raise RefusedError(f"it cannot be used again ({type(error).__name__})") from error
    if not isinstance(used, fx.Graph | fx.GraphModule):
        raise RefusedError("it cannot be used again")
    return used


def _with_claims(graph: GraphRecord, claimed: GraphRecord) -> GraphRecord:
    """The graph, completed with claims that can only cost points or change a drawing."""
    scopes = [node.scope if len(node.scope) <= _MOST_SCOPE else "" for node in claimed]
    scopes += [""] * (len(graph) - len(scopes))
    nodes = (dataclasses.replace(node, scope=scope) for node, scope in zip(graph, scopes, strict=False))
    lint = graph.lint or (claimed.lint and claimed.lint[:_MOST_SCOPE])
    return dataclasses.replace(graph, nodes=tuple(nodes), lint=lint, stale=graph.stale or claimed.stale)


def _with_claimed_part(verified: CaseFacts, claimed: CaseFacts, name: str) -> CaseFacts:
    """Put the claimed extra output back among the outputs; without one, there are no outputs."""
    if verified.outputs is None:
        return verified
    if claimed.outputs is None:
        return msgspec.structs.replace(verified, outputs=None, run_error=claimed.run_error, run_node=None)
    outputs = [_with_part(*pair, name) for pair in zip(verified.outputs, claimed.outputs, strict=True)]
    return msgspec.structs.replace(verified, outputs=outputs)


def _with_part(output: JSON, claimed: JSON, name: str) -> JSON:
    if not isinstance(output, dict) or "dict" not in output:
        return output
    pairs = claimed["dict"] if isinstance(claimed, dict) and "dict" in claimed else []
    part = next((value for key, value in pairs if key == name), None)
    return {"dict": [*output["dict"], [name, part]]}
