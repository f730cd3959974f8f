"""What observing an answer says of it: the form of all that passes from the half that runs it to the half that judges.

It travels as JSON. :func:`as_json` writes it and :func:`read` reads it back, from whoever wrote it: what is read is of
this form in every part, and nothing more is known of it.
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
    """What was said to be an observation is none."""


class Raised(msgspec.Struct, frozen=True):
    """An error in the learner's code, or in that of the check.

    Args:
        type: the name of its class.
        message: what it says.
        line: the learner's own line, where it is known.
        loading: whether so much was being imported that the time may have gone there.
        own: whether the check itself raised it, while it looked at what the answer did.
    """

    type: str
    message: str
    line: str | None
    loading: bool
    own: bool = False


class GraphFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a graph is and does: all that needs nothing but the graph and what it runs in.

    Args:
        graph: its nodes.
        outputs: what it returns for each draw of inputs; ``None`` where running raised.
        run_error: type and message of what running raised.
        run_node: the index of the node that raised, where it is known.
        shared: each parameter and buffer of the result, with its name in the model given if it is that object, else
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
        value: what an answer returned that is data.
        origins: for each node the index of the node of the given graph that it is, or was copied from, else ``None``.
        changes: what happened to the model given, in words.
        same_object: whether the result is the object that was given.
        left: what the answer left otherwise than it was, that no exercise asks to change, in words.
        error: what ended this case, of an answer that is data.
        wire: the graph as :func:`fxbook.graph.wire.describe` tells it, where it was asked for.
        inside: the value of each node for one draw of inputs, where it was asked for and the graph could be run.
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
    """What an answer did in all cases of an exercise that it came to.

    Args:
        exercise: the exercise's id.
        problem: a sentence about an answer that cannot be used at all.
        error: what ended the observation, in the case after the last.
        cases: in the order in which the answer met them.
        printed: what the answer printed, cut.
        replaced: the names of what it replaced in torch or in the checks.
    """

    exercise: str
    problem: str | None = None
    error: Raised | None = None
    cases: list[CaseFacts] = []
    printed: str = ""
    replaced: list[str] = []


def as_json(observation: Observation) -> JSON:
    """The observation as plain dicts and lists."""
    return msgspec.to_builtins(observation)


def read(data: JSON) -> Observation:
    """The observation that JSON describes.

    Raises:
        UnreadableError: it describes none that could have been made: a part is missing or of another form, or the parts
            contradict each other.
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
        # Half of a character, which an answer may print or raise, and which no file can hold.
        whole = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")
        return msgspec.convert(json.loads(whole), Observation)


def _agrees(case: CaseFacts) -> bool:
    """Whether the parts of a case fit together, so that a rule may take them for granted."""
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
    """Whether each number in the record that stands for a node does."""
    numbers = (number for node in graph for number in (*node.inputs, *node.users))
    return all(0 <= number < len(graph) for number in numbers) and all(
        node.index == place for place, node in enumerate(graph)
    )
