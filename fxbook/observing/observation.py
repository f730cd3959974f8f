"""The form of an observation: all that passes from the half that runs an answer to the half that judges it.

It travels as JSON. :func:`as_json` writes it, and :func:`read` validates the form of JSON from an untrusted source, but
cannot tell whether it is true.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from fxbook.cases.exercise import DRAWS
from fxbook.cases.values import Value, is_value
from fxbook.graph.record import GraphRecord

JSON = Any


class UnreadableError(Exception):
    """The data is not an observation."""


class Raised(msgspec.Struct, frozen=True):
    """An error in the learner's code, or in the check's.

    Args:
        line: the learner's own line, if known.
        loading: whether so many modules were being imported that this may account for the time.
        own: whether the check itself raised it while it examined the result.
    """

    type: str
    message: str
    line: str | None
    loading: bool
    own: bool = False


class GraphFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a graph is and does, as far as the graph and its root module determine it.

    Args:
        outputs: the result for each draw of inputs; ``None`` if running raised.
        run_error: type and message of the error that running raised.
        run_node: the index of the node that raised, if known.
        shared: for each parameter and buffer of the result, its name in the given model if it is the same object, else
            ``None``.
        modules: the paths of the result's submodules.
    """

    graph: GraphRecord | None = None
    outputs: list[Value] | None = None
    run_error: str | None = None
    run_node: int | None = None
    shared: dict[str, str | None] = {}
    modules: list[str] = []


class CaseFacts(GraphFacts, frozen=True, kw_only=True):
    """What an answer did in one case.

    Args:
        kind: ``"GraphModule"``, ``"Graph"``, ``"Module"``, ``"None"`` or another class's name.
        value: the data that a ``compute`` answer returned.
        origins: for each node, the index of the node of the given graph that it is, or was copied from, else ``None``.
        changes: how the given model was changed, in words.
        same_object: whether the result is the object that was given.
        left: side effects that no exercise asks for, in words.
        error: the error that ended this case, for an answer that is data.
        wire: the graph as :func:`fxbook.graph.wire.describe` gives it, if requested.
        inside: the value of each node for one draw of inputs, if requested and if the graph runs.
    """

    kind: str = ""
    value: Value = None
    origins: list[int | None] = []
    changes: list[str] = []
    same_object: bool = False
    left: list[str] = []
    error: Raised | None = None
    wire: JSON = None
    inside: list[Value] | None = None


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer did in each case of an exercise that it reached, in the order in which it met the cases.

    Args:
        problem: a sentence that says why an answer cannot be used at all.
        error: the error that ended the observation, in the case after the last one listed.
        printed: what the answer printed, cut to a limit.
        replaced: the names of what it replaced in torch or in the checks.
    """

    exercise: str
    problem: str | None = None
    error: Raised | None = None
    cases: list[CaseFacts] = []
    printed: str = ""
    replaced: list[str] = []


def as_json(observation: Observation) -> JSON:
    return msgspec.to_builtins(observation)


def read(data: JSON) -> Observation:
    """Read an observation from JSON.

    Raises:
        UnreadableError: a part is missing or malformed, or the parts contradict each other.
    """
    try:
        observation = _converted(data)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise UnreadableError(str(error)) from None
    if not all(_agrees(case) for case in observation.cases):
        raise UnreadableError("its parts contradict each other")
    return observation


def _converted(data: JSON) -> Observation:
    try:
        return msgspec.convert(data, Observation)
    except UnicodeEncodeError:
        # An answer may print a lone surrogate, or raise an error with one, which no file can hold.
        whole = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")
        return msgspec.convert(json.loads(whole), Observation)


def _agrees(case: CaseFacts) -> bool:
    outputs = [] if case.outputs is None else case.outputs
    return (
        (case.graph is None or _is_sound(case.graph))
        and (case.outputs is None or len(outputs) == DRAWS)
        and all(is_value(value) for value in (case.value, *outputs, *(case.inside or ())))
        and (case.inside is None or (case.graph is not None and len(case.inside) == len(case.graph)))
        and (case.run_node is None or (case.graph is not None and 0 <= case.run_node < len(case.graph)))
        and (case.graph is None or (case.outputs is None) == (case.run_error is not None))
    )


def _is_sound(graph: GraphRecord) -> bool:
    numbers = (number for node in graph for number in (*node.inputs, *node.users))
    return all(0 <= number < len(graph) for number in numbers) and all(
        node.index == place for place, node in enumerate(graph)
    )
