"""The second half of a check: read an observation and say whether the exercise is solved, and if not, what is wrong.

Reads plain data only and never runs the learner's code. What the model itself gives is computed here, from the seed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

from fxbook.asking.exercise import DRAWS, Exercise, drawn_order
from fxbook.asking.rule import Violation, first_violation
from fxbook.asking.trial import Trial, trials_of
from fxbook.asking.values import is_value
from fxbook.asking.view import CaseView, Claims
from fxbook.checking.apart import MEMORY
from fxbook.graph.record import GraphRecord

JSON = Any
_UNREADABLE = Violation("What came back from running your answer cannot be read.", rule="readable")
_OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "Cannot allocate memory")


@dataclasses.dataclass(frozen=True)
class Verdict:
    """``violation`` is ``None`` where everything holds; else its ``rule`` is the name of the property that does not.

    ``case`` is the index of the case it was found in and ``graph`` the learner's graph there, if there is one; ``line``
    is the line of the learner's code that raised.
    """

    violation: Violation | None
    case: int | None = None
    graph: GraphRecord | None = None
    line: str | None = None
    printed: str = ""

    @property
    def passed(self) -> bool:
        """Whether every property holds."""
        return self.violation is None


def judge(
    exercise: Exercise,
    observation: JSON,
    seed: int,
    trials: Sequence[Trial] | None = None,
    read: set[str] | None = None,
) -> Verdict:
    """Judge what :func:`fxbook.checking.observe.observe` wrote down, under the seed it was given.

    Any JSON is judged; what is not an observation of this exercise and seed is told as unreadable.

    Args:
        exercise: what is asked.
        observation: what came back from using the answer.
        seed: under which it was used.
        trials: the cases of the exercise under that seed, where they have been made.
        read: takes the names of the claims that the verdict rests on; see :class:`fxbook.asking.view.Claims`.
    """
    try:
        return _judge(exercise, observation, seed, trials or trials_of(exercise, seed), set() if read is None else read)
    except _UnreadableError:
        return Verdict(_UNREADABLE)


class _UnreadableError(Exception):
    """The observation is not of the form that observe gives it."""


@dataclasses.dataclass(frozen=True)
class _Raised:
    """A case that ended in an error, or what ended the observation; ``line`` is the learner's."""

    violation: Violation
    line: str | None


def _judge(exercise: Exercise, observation: JSON, seed: int, trials: Sequence[Trial], read: set[str]) -> Verdict:
    met, seen = _read(exercise, observation, seed, trials, read)
    printed = seen["printed"]
    if seen["problem"]:
        return Verdict(Violation(seen["problem"], rule="usable"), printed=printed)
    # What torch replaces while it loads is put back at the end, which was not reached.
    cut_short = seen["error"] and seen["error"]["type"] == "TimeUp" and seen["error"]["loading"]
    if seen["replaced"] and not cut_short:
        names = ", ".join(f"`{name}`" for name in seen["replaced"][:2])
        # First, since whatever else was observed was observed with it replaced.
        message = f"Your code replaces {names}: an answer may change graphs, not torch or the checks."
        return Verdict(Violation(message, rule="leaves torch alone"), printed=printed)
    for index in sorted(met):
        found = met[index]
        violation = _first_violation(found) if isinstance(found, CaseView) else found.violation
        if violation:
            told = _on_another_model(violation, exercise, index, met)
            if isinstance(found, CaseView):
                return Verdict(told, index, found.graph, printed=printed)
            return Verdict(told, line=found.line, printed=printed)
    if seen["error"]:
        last = _raised(seen["error"])
        index = drawn_order(exercise, seed)[min(len(met), len(exercise.cases) - 1)]
        return Verdict(_on_another_model(last.violation, exercise, index, met), line=last.line, printed=printed)
    if len(met) != len(exercise.cases):
        raise _UnreadableError
    return Verdict(None, printed=printed)


def _first_violation(view: CaseView) -> Violation | None:
    kinds = view.exercise.kinds()
    if kinds and view.kind not in kinds:
        return _wrong_kind(view, kinds)
    return first_violation(view, view.exercise.rules)


def _wrong_kind(view: CaseView, kinds: tuple[str, ...]) -> Violation:
    wanted = " or ".join(f"an fx.{kind}" for kind in kinds)
    if view.kind == "None":
        return Violation(f"Your function returns nothing (None): {wanted} was asked.", rule="right kind")
    returned = view.kind if view.kind.startswith("class ") else f"an object of class {view.kind}"
    return Violation(f"Your function returns {returned}: {wanted} was asked.", rule="right kind")


def _on_another_model(violation: Violation, exercise: Exercise, index: int, met: Collection[int]) -> Violation:
    """What is told of a case; of one that the learner has not seen, where those that they know were met and hold."""
    case = exercise.cases[index]
    known = {place for place, other in enumerate(exercise.cases) if not other.unseen}
    if not case.unseen or not index or not known.issubset(met):
        return violation
    message = f"It holds for the model you know, but not on another ({case.name}): {_uncapital(violation.message)}"
    return dataclasses.replace(violation, message=message)


def _uncapital(message: str) -> str:
    return message[:1].lower() + message[1:] if message[1:2].islower() or message[1:2] == " " else message


def _error_message(error: JSON) -> str:
    kind, message = error["type"], error["message"]
    if kind == "TimeUp" and error["loading"]:
        return (
            "Time was over while torch was loading its compiler, which your code uses. Run `import torch._dynamo` in a "
            "cell, then check again."
        )
    if kind == "TimeUp":
        return "Your code was still running when the time was over: it may loop for ever."
    if kind == "MemoryError" or any(part in message for part in _OUT_OF_MEMORY):
        return f"Your code asked for more memory than an answer may use ({MEMORY >> 20} MiB)."
    return f"Your code raises {kind}: {message}" if message else f"Your code raises {kind}."


def _read(
    exercise: Exercise, seen: JSON, seed: int, trials: Sequence[Trial], read: set[str]
) -> tuple[dict[int, CaseView | _Raised], JSON]:
    """The cases that were observed, by their place in the exercise, and the observation itself.

    Raises:
        _UnreadableError: it is not an observation of this exercise.
    """
    try:
        if not all(isinstance(seen[key], kind) for key, kind in _FORM.items()) or seen["exercise"] != exercise.id:
            raise _UnreadableError
        if len(seen["cases"]) > len(exercise.cases) or not all(isinstance(name, str) for name in seen["replaced"]):
            raise _UnreadableError
        if seen["error"] is not None:
            _raised(seen["error"])
        met: dict[int, CaseView | _Raised] = {}
        for index, found in zip(drawn_order(exercise, seed), seen["cases"], strict=False):
            error = found["error"]
            met[index] = _view(trials[index], found, read) if error is None else _raised(error)
        return met, seen
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _UnreadableError from error


def _raised(error: JSON) -> _Raised:
    texts = error["type"], error["message"], error["line"] or ""
    if not all(isinstance(text, str) for text in texts) or not isinstance(error["loading"], bool):
        raise _UnreadableError
    return _Raised(Violation(_error_message(error), rule="ends well"), error["line"])


_FORM: dict[str, Any] = {
    "exercise": str,
    "problem": str | None,
    "error": dict | None,
    "cases": list,
    "printed": str,
    "replaced": list,
}


def _view(trial: Trial, found: JSON, read: set[str]) -> CaseView:
    graph = None if found["graph"] is None else GraphRecord.from_json(found["graph"])
    if graph is not None and not _sound(graph):
        raise _UnreadableError
    outputs = found["outputs"]
    if outputs is not None and len(outputs) != DRAWS:
        raise _UnreadableError
    if not all(is_value(value) for value in (found["value"], *(outputs or ()))):
        raise _UnreadableError
    if not isinstance(found["run_error"], str | None):
        raise _UnreadableError
    run_node = found["run_node"]
    if run_node is not None and not (type(run_node) is int and graph is not None and 0 <= run_node < len(graph)):
        raise _UnreadableError
    if graph is not None and (outputs is None) != isinstance(found["run_error"], str):
        raise _UnreadableError
    return CaseView(
        trial=trial,
        kind=str(found["kind"]),
        graph=graph,
        outputs=outputs,
        run_error=found["run_error"],
        run_node=run_node,
        modules=[str(path) for path in found["modules"]],
        claims=Claims(
            value=found["value"],
            stale=graph is not None and bool(graph.stale),
            shared=dict(found["shared"]),
            changes=[str(change) for change in found["changes"]],
            same_object=bool(found["same_object"]),
            origins=list(found["origins"]),
        ),
        read=read,
    )


def _sound(graph: GraphRecord) -> bool:
    """Whether the record is what a property may take for granted: texts are text, an index stands for a node."""
    numbers = [number for node in graph for number in (*node.inputs, *node.users)]
    texts = [(node.name, node.op, node.target, node.call, node.kind or "", *node.notes, *node.faults) for node in graph]
    in_range = all(type(number) is int and 0 <= number < len(graph) for number in numbers)
    return (
        in_range
        and all(isinstance(text, str) for row in texts for text in row)
        and all(node.index == place for place, node in enumerate(graph))
        and isinstance(graph.lint, str | None)
    )
