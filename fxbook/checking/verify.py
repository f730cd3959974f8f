"""``check(exercise_id, answer)``: observe the answer in a child process, judge the observation, report."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import torch
from torch import nn

from fxbook import tasks
from fxbook.cases.exercise import SECONDS, Exercise, drawn_order
from fxbook.cases.running import one_thread
from fxbook.catalogue import About, about, catalogue, unknown
from fxbook.checking import new_seed
from fxbook.checking.again import looking_inside
from fxbook.checking.failed import FailedCase
from fxbook.checking.judge import CHECK_WORKS, Verdict, failed, judge, own_error
from fxbook.checking.report import Report
from fxbook.observing import forked
from fxbook.observing.guard import Guard
from fxbook.observing.observation import read
from fxbook.observing.observe import observe
from fxbook.observing.prepare import Prepared, prepare
from fxbook.rules.rule import Violation
from fxbook.rules.trial import trials_of
from fxbook.showing import shown

JSON = Any
# When time is up, the answer is interrupted, so that its line is known; after this further time, the child is killed.
GRACE_SECONDS = 1.0
# torch's message in a child that differentiates after its parent started autograd threads. A GPU starts them, and so
# does torch.compile in a CUDA build.
_NO_AUTOGRAD = "Unable to handle autograd's threading in combination with fork-based multiprocessing"
UNPROTECTED = "On this system an answer runs in the notebook itself: nothing stops an endless loop or limits memory."
_ENDED = {
    "time": "Your code was still running when time ran out: it may loop for ever.",
    "exit": "Your code ended the Python process (os._exit or the like) before its result could be checked.",
    "crash": "Your code crashed the Python process: endless recursion, or overwritten memory.",
    "silent": "Your code closed or flooded the channel through which its result is read.",
}


def _start_autograd() -> None:
    """Start autograd before torch.compile adds a device in a CUDA build without a GPU."""
    if torch.backends.cuda.is_built() and not torch.cuda.is_available():
        with torch.inference_mode(False), torch.enable_grad():
            torch.ones((), requires_grad=True).backward()


_start_autograd()


def check(exercise_id: str, answer: Any, *, seed: int | None = None) -> Report:
    """Check an answer to an exercise. The report says what is wrong, but not how to put it right.

    Args:
        exercise_id: the id printed with the exercise, such as ``"01-relu-by-hand"``.
        answer: what the exercise asks for: a function (not its result), a callable object or class, or a graph.
        seed: determines weights and inputs. By default they differ in every check, unless the environment variable
            ``FXBOOK_SEED`` is set, which makes a report reproducible.

    Returns:
        The report; ``.passed`` says whether the public checks passed, and ``.case`` is the case that failed, with its
        model, arguments, inputs and graph. A notebook shows the report, a script prints it. Nothing an answer does
        makes this function raise an error, and an answer is stopped after 10 seconds of processor time, or one minute
        in all.
    """
    exercise = tasks.find(exercise_id) if isinstance(exercise_id, str) else None
    if exercise is None:
        is_known = isinstance(exercise_id, str) and exercise_id in catalogue()
        message = not_here(exercise_id) if is_known else unknown(exercise_id, _known())
        return shown(Report(About(str(exercise_id), str(exercise_id)), Verdict(Violation(message, rule="known id"))))
    return shown(check_with(exercise, answer, seed=seed))


def _known() -> list[str]:
    return list(catalogue()) or [exercise.id for exercise in tasks.all_exercises()]


def not_here(exercise_id: str) -> str:
    """The message for an exercise of the book whose check is not installed here."""
    chapters = tasks.chapters()
    held = f"those of chapter{'s' if chapters[1:] else ''} {', '.join(chapters)}" if chapters else "no checks"
    return f"The check of {exercise_id} is not in this folder, which holds {held}: ask your teacher for it."


def check_with(exercise: Exercise, answer: Any, *, seed: int | None = None) -> Report:
    """Check an answer against a given specification; otherwise like :func:`check`."""
    seed = new_seed() if seed is None else seed
    verdict, note = _verdict(exercise, answer, seed), "" if forked.CAN_FORK else UNPROTECTED
    return Report(about(exercise.id), verdict, note, FailedCase.of(exercise, seed, verdict))


@dataclasses.dataclass(frozen=True)
class _Attempt:
    """One use of an answer, in a child process or here, with its observation, if any, and the verdict."""

    exercise: Exercise
    answer: Any
    seed: int
    in_child: bool
    observation: JSON
    verdict: Verdict


def _verdict(exercise: Exercise, answer: Any, seed: int) -> Verdict:
    try:
        # Small models spend more time waiting for threads than computing, and the child also has one thread.
        with one_thread():
            attempt = _attempt(exercise, answer, seed, forked.CAN_FORK)
            for retry in _RETRIES:
                attempt = retry(attempt) or attempt
            return attempt.verdict
    except Exception as error:
        return failed(f"{type(error).__name__}: {error}")


def _attempt(exercise: Exercise, answer: Any, seed: int, in_child: bool) -> _Attempt:
    attempt = functools.partial(_Attempt, exercise, answer, seed, in_child)
    prepared = prepare(exercise, seed)
    if not in_child:
        guard = Guard()
        observation = observe(prepared, answer, exercise.usage.seconds)
        guard.put_back()
        return attempt(observation, judge(exercise, observation, seed))

    def observed(prepared: Prepared) -> forked.Outcome:
        seconds = exercise.usage.seconds
        observing = functools.partial(observe, prepared, answer, seconds)
        wall = seconds * forked.WALL_PER_PROCESSOR_SECOND + GRACE_SECONDS
        return forked.run_in_child(observing, wall, processor_seconds=seconds + GRACE_SECONDS)

    outcome = observed(prepared)
    if outcome.data is None:
        return attempt(None, Verdict(Violation(_ENDED[outcome.ended], rule="ends well")))
    # The child's changes did not reach this process.
    unchanged = dict(zip(drawn_order(exercise, seed), (case.arguments for case in prepared.cases), strict=True))
    inside = looking_inside(exercise, seed, lambda anew: observed(anew).data)
    return attempt(outcome.data, judge(exercise, outcome.data, seed, trials_of(exercise, seed, unchanged), inside))


def _differentiate_here(attempt: _Attempt) -> _Attempt | None:
    """Use the answer again in this process if a child cannot differentiate; it has returned once, so this is safe."""
    if not attempt.in_child or attempt.observation is None or attempt.verdict.passed:
        return None
    # The answer, or the check, may have caught torch's error.
    refused = _NO_AUTOGRAD in str(attempt.observation)
    if refused or (torch.backends.cuda.is_built() and not _a_child_differentiates()):
        return _attempt(attempt.exercise, attempt.answer, attempt.seed, in_child=False)
    return None


def _a_child_differentiates() -> bool:
    def differentiated() -> bool:
        torch.ones((), requires_grad=True).backward()
        return True

    return forked.run_in_child(differentiated, SECONDS).data is True


def _blame_check_or_answer(attempt: _Attempt) -> _Attempt | None:
    """Blame the answer if the check itself failed after running it but works for an answer that does nothing."""
    if attempt.verdict.violation is None or attempt.verdict.violation.rule != CHECK_WORKS:
        return None
    without = _attempt(attempt.exercise, _identity_answer, attempt.seed, attempt.in_child).observation
    if without is None or without["error"] or without["problem"] or any(case["error"] for case in without["cases"]):
        return None
    told = f"fxbook cannot read what your code returns or changes ({own_error(read(attempt.observation))})"
    violation = Violation(f"{told}. If your answer is correct, please report this as a bug.", rule="ends well")
    return dataclasses.replace(attempt, verdict=dataclasses.replace(attempt.verdict, violation=violation))


def _identity_answer(*arguments: Any) -> Any:
    return next((one for one in arguments if isinstance(one, nn.Module)), None)


_RETRIES = (_differentiate_here, _blame_check_or_answer)
