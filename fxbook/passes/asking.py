"""Turn a function that checks a trial into an invariant, which users can call and a report includes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from torch import fx
from torch.export import ExportedProgram

from fxbook.passes.outcome import apart_from_caller, one_line
from fxbook.passes.pass_run import Pass, PassRaisedError, WrongReturnError
from fxbook.passes.report import Finding, error_of
from fxbook.passes.trial import Trial


class Told(NamedTuple):
    """What is wrong, as a sentence without its full stop; what to do about it; and the node where the fault shows.

    ``advice``: not a fault, but a broken convention or a cost that such a pass may have.
    """

    what: str
    cure: str = ""
    node: str = ""
    advice: bool = False


class NotCheckedError(ValueError):
    """An invariant cannot be checked for this module and these inputs; the message is a clause that says why."""


Question = Callable[[Trial], "Told | str | None"]


class Invariant(Protocol):
    __name__: str
    __doc__: str | None

    def __call__(
        self,
        run: Pass,
        module: fx.GraphModule | ExportedProgram,
        inputs: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        *,
        others: Sequence[Sequence[Any]] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        """Check this invariant for one pass and one module."""


_questions: dict[str, Question] = {}


def invariant(question: Question) -> Invariant:
    """Turn a question into a function for users.

    The question gets a :class:`Trial` and returns ``None``, or what is wrong, as a sentence or as :class:`Told`. It
    raises :class:`NotCheckedError` if it cannot be answered, and sets ``trial.checked_on`` if it used several inputs.
    """

    def ask(
        run: Pass,
        module: fx.GraphModule | ExportedProgram,
        inputs: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        *,
        others: Sequence[Sequence[Any]] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        with apart_from_caller():
            answer = answered(ask, Trial(run, module, inputs, kwargs, others=others, rtol=rtol, atol=atol))
        if answer.finding is not None:
            raise error_of(answer.finding.invariant)(str(answer.finding)) from answer.cause
        if isinstance(answer.checked_on, str):
            raise NotCheckedError(f"{ask.__name__} was not checked: {answer.checked_on}")

    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(ask, name, getattr(question, name))
    _questions[ask.__name__] = question
    return ask


@dataclasses.dataclass(frozen=True)
class Answer:
    """What one invariant finds in a trial; ``checked_on`` says on how many inputs it was checked, or why it was not."""

    checked_on: int | str
    finding: Finding | None = None
    advice: bool = False
    cause: Exception | None = None


def answered(of: Invariant, trial: Trial) -> Answer:
    trial.checked_on = 1
    try:
        told = _questions[of.__name__](trial)
    except PassRaisedError as raised:
        return Answer("the pass raises", Finding("runs", str(raised)), cause=raised.error)
    except NotCheckedError as why:
        return Answer(str(why))
    except WrongReturnError:
        raise
    except Exception as error:
        return Answer(f"could not be compared: {one_line(error)}")
    if told is None:
        return Answer(trial.checked_on)
    told = Told(told) if isinstance(told, str) else told
    return Answer(trial.checked_on, Finding(of.__name__, told.what, told.node, told.cure), told.advice)
