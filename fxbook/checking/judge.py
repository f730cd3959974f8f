"""The second half of a check: read an observation and decide whether the exercise is solved, and if not, what is wrong.

It reads plain data only and never runs the learner's code. It computes the model's own outputs from the seed.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch

from fxbook.cases.exercise import Exercise, drawn_order
from fxbook.cases.values import Value
from fxbook.graph.record import GraphRecord
from fxbook.observing.forked import MEMORY
from fxbook.observing.observation import CaseFacts, Observation, Raised, UnreadableError, read
from fxbook.rules.predicates import all_in_sight, defaults_kept, inserts_at_the_end, layers_applied, nothing_left
from fxbook.rules.rule import Violation, first_violation
from fxbook.rules.trial import Trial, trials_of
from fxbook.rules.view import CaseView, Claims

JSON = Any
_UNREADABLE = Violation("The result of running your answer cannot be read.", rule="readable")
# This is checked for every exercise, and reported last.
UNIVERSAL_RULES = (all_in_sight, inserts_at_the_end, defaults_kept, nothing_left)
_OF_NUMBERS = ("same_result", "same_output")
CHECK_WORKS = "the check works"
_OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "Cannot allocate memory")


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The result of a check.

    ``violation`` is ``None`` if every rule holds; otherwise, its ``rule`` names the rule that is broken. ``case`` is
    the index of the case, and ``graph`` the learner's graph there, if there is one. ``given`` is the graph that the
    answer was called with, set if there is no other graph or if the violation names one of its nodes. ``line`` is the
    learner's line that raised.
    """

    violation: Violation | None
    case: int | None = None
    graph: GraphRecord | None = None
    given: GraphRecord | None = None
    line: str | None = None
    printed: str = ""

    @property
    def passed(self) -> bool:
        return self.violation is None


def failed(why: str) -> Verdict:
    """The verdict when the check itself raised ``why``, so that this does not look like a wrong answer."""
    told = f"The check itself failed with torch {torch.__version__}: the error is in fxbook, not in your code"
    return Verdict(Violation(f"{told} ({why}). Please report it.", rule=CHECK_WORKS))


def own_error(observation: Observation) -> str:
    errors = (*(case.error for case in observation.cases), observation.error)
    return next((f"{error.type}: {error.message}" for error in errors if error and error.own), "")


Inside = Callable[[int, int], list[Value] | None]
"""Maps the index of a case and the draw of its inputs to the values of the graph's nodes in that run, if available."""


def nothing_inside(_case: int, _draw: int) -> list[Value] | None:
    """The default for ``inside``: the values of the nodes are not available."""
    return None


def judge(
    exercise: Exercise, data: JSON, seed: int, trials: Sequence[Trial] = (), inside: Inside = nothing_inside
) -> Verdict:
    """Judge what :func:`fxbook.observing.observe.observe` returned, with the seed it was given.

    Accepts any JSON; anything but an observation of this exercise and seed is reported as unreadable. ``trials`` are
    the cases of the exercise for that seed, if they have already been made; ``inside`` returns the values of nodes.
    """
    try:
        observation = read(data)
    except UnreadableError:
        return Verdict(_UNREADABLE)
    return judge_facts(exercise, observation, seed, trials or trials_of(exercise, seed), inside=inside)


def judge_facts(
    exercise: Exercise,
    observation: Observation,
    seed: int,
    trials: Sequence[Trial],
    looked_at: set[str] | None = None,
    inside: Inside = nothing_inside,
) -> Verdict:
    """Judge an observation; otherwise like :func:`judge`.

    The names of the claims that the verdict uses are added to ``looked_at``; see :class:`fxbook.rules.view.Claims`.
    """
    try:
        views = _views(exercise, observation, seed, trials, set() if looked_at is None else looked_at, inside)
    except UnreadableError:
        return Verdict(_UNREADABLE)
    return dataclasses.replace(_verdict(exercise, observation, seed, views, trials), printed=observation.printed)


def _views(
    exercise: Exercise, seen: Observation, seed: int, trials: Sequence[Trial], looked_at: set[str], inside: Inside
) -> dict[int, CaseView | Raised]:
    too_many, ended = len(seen.cases) > len(trials), seen.problem is not None or seen.error is not None
    if seen.exercise != exercise.id or too_many or (len(seen.cases) < len(trials) and not ended and not seen.replaced):
        raise UnreadableError
    return {
        index: _view(trials[index], case, looked_at, functools.partial(inside, index))
        if case.error is None
        else case.error
        for index, case in zip(drawn_order(exercise, seed), seen.cases, strict=False)
    }


def _verdict(
    exercise: Exercise,
    seen: Observation,
    seed: int,
    views: Mapping[int, CaseView | Raised],
    trials: Sequence[Trial],
) -> Verdict:
    if seen.problem:
        return Verdict(Violation(seen.problem, rule="usable"))
    # torch patches itself while it traces or loads, and an interrupted answer cannot undo that.
    cut_short = seen.error and seen.error.type == "TimeUp"
    if seen.replaced and not cut_short:
        names = ", ".join(f"`{name}`" for name in seen.replaced[:2])
        # This comes first, because everything else was observed with the replacements in place.
        message = f"Your code replaces {names}: an answer may change graphs, not torch or the checks."
        return Verdict(Violation(message, rule="leaves torch alone"))
    for index, view in sorted(views.items()):
        if isinstance(view, Raised):
            return _raised_in(view, exercise, index, views, trials)
        if violation := _first_violation(view):
            return _found_in(view, violation, exercise, index, views)
    if seen.error:
        index = drawn_order(exercise, seed)[min(len(views), len(exercise.usage.cases) - 1)]
        return _raised_in(seen.error, exercise, index, views, trials)
    # This is reported only if the exercise's own rules hold in every case.
    for index, view in sorted(views.items()):
        if isinstance(view, CaseView) and (violation := first_violation(view, UNIVERSAL_RULES)):
            return _found_in(view, violation, exercise, index, views)
    return Verdict(None)


def _found_in(view: CaseView, violation: Violation, exercise: Exercise, index: int, met: Collection[int]) -> Verdict:
    is_named = violation.given is not None
    given = view.trial.given if view.graph is None or is_named else None
    return Verdict(_on_another_model(violation, exercise, index, met), index, view.graph, given)


def _raised_in(error: Raised, exercise: Exercise, index: int, met: Collection[int], trials: Sequence[Trial]) -> Verdict:
    if error.own and not _is_out_of_memory(error):
        return failed(f"{error.type}: {error.message}")
    violation = _raised(error)
    said = (
        exercise.check.on_error(trials[index], error.type)
        if exercise.check.on_error and error.type != "TimeUp"
        else None
    )
    if said:
        violation = dataclasses.replace(violation, message=f"{violation.message.rstrip('.')}. {said}")
    violation = _on_another_model(violation, exercise, index, met)
    return Verdict(violation, index, given=trials[index].given, line=error.line)


def _first_violation(view: CaseView) -> Violation | None:
    kinds = view.exercise.usage.kinds()
    if kinds and view.kind not in kinds:
        return _wrong_kind(view, kinds)
    violation = first_violation(view, view.exercise.check.rules)
    if violation and view.graph and (unapplied := first_violation(view, (layers_applied,))):
        return unapplied
    if violation and violation.rule in _OF_NUMBERS:
        # A default that is lost, or a mode or a weight that was left changed, explains why values differ.
        return first_violation(view, (defaults_kept, nothing_left)) or violation
    return violation


def _wrong_kind(view: CaseView, kinds: tuple[str, ...]) -> Violation:
    wanted = " or ".join(f"an fx.{kind}" for kind in kinds)
    if view.kind == "None":
        return Violation(f"Your function returns nothing (None), not {wanted}.", rule="right kind")
    returned = view.kind if view.kind.startswith("class ") else f"an object of class {view.kind}"
    returned = "an nn.Module that is not traced" if view.kind == "Module" else returned
    return Violation(f"Your function returns {returned}, not {wanted}.", rule="right kind")


def _on_another_model(violation: Violation, exercise: Exercise, index: int, met: Collection[int]) -> Violation:
    """If the answer passes on every model the learner knows but fails on another, say so."""
    case = exercise.usage.cases[index]
    known = {place for place, other in enumerate(exercise.usage.cases) if not other.unseen}
    if not case.unseen or not index or not known.issubset(met):
        return violation
    message = (
        f"Your answer works for the model you know, but not for another ({case.name}): {_uncapital(violation.message)}"
    )
    return dataclasses.replace(violation, message=message)


def _uncapital(message: str) -> str:
    return message[:1].lower() + message[1:] if message[1:2].islower() or message[1:2] == " " else message


def _raised(error: Raised) -> Violation:
    return Violation(_error_message(error), rule="ends well")


def _error_message(error: Raised) -> str:
    if error.type == "TimeUp" and error.loading:
        return (
            "Time ran out while torch was loading its compiler, which your code uses. Run `import torch._dynamo` in a "
            "cell, then check again."
        )
    if error.type == "TimeUp":
        return "Your code was still running when time ran out: it may loop for ever."
    if _is_out_of_memory(error):
        return f"Your code asked for more memory than an answer may use ({MEMORY >> 20} MiB): it may loop for ever."
    return f"Your code raises {error.type}: {error.message}" if error.message else f"Your code raises {error.type}."


def _is_out_of_memory(error: Raised) -> bool:
    return error.type == "MemoryError" or any(part in error.message for part in _OUT_OF_MEMORY)


def _view(trial: Trial, case: CaseFacts, looked_at: set[str], inside: Callable[[int], list[Value] | None]) -> CaseView:
    return CaseView(
        trial=trial,
        kind=case.kind,
        graph=case.graph,
        outputs=case.outputs,
        run_error=case.run_error,
        run_node=case.run_node,
        modules=case.modules,
        claims=Claims(
            value=case.value,
            stale=case.graph is not None and case.graph.stale,
            shared=case.shared,
            changes=case.changes,
            same_object=case.same_object,
            origins=case.origins,
            left=case.left,
        ),
        inside=inside,
        read=looked_at,
    )
