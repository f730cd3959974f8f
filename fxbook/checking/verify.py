"""``check(exercise_id, answer)``: observe the answer apart, judge what was observed, report."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from fxbook import tasks
from fxbook.asking.exercise import Exercise, drawn_order
from fxbook.asking.rule import Violation
from fxbook.asking.trial import trials_of
from fxbook.checking import apart, new_seed
from fxbook.checking.again import looking_inside
from fxbook.checking.failed import FailedCase
from fxbook.checking.guard import Guard
from fxbook.checking.judge import CHECK_WORKS, Verdict, failed, judge, own_error
from fxbook.checking.observation import read
from fxbook.checking.observe import observe
from fxbook.checking.prepare import Prepared, prepare
from fxbook.checking.report import Report
from fxbook.learning.exercises import About, about, catalogue, unknown
from fxbook.showing import shown

# When its seconds are over, the learner's line is interrupted; so much later, the child is killed. On a busy machine
# both wait until the answer has had its seconds of the processor.
GRACE_SECONDS = 0.3
# However busy it is, nobody waits longer for a check than this: using the answer, and looking inside a wrong result.
# Where an exercise allows more, so many times what it allows.
LONGEST_SECONDS = 3.5
_LONGEST_TIMES = 1.5
# What torch says to a child that differentiates, once its parent has started threads of autograd: a GPU starts them,
# and so does torch.compile in a build for CUDA.
_NO_AUTOGRAD = "Unable to handle autograd's threading in combination with fork-based multiprocessing"
UNPROTECTED = "On this system an answer runs in the notebook itself: an endless loop or lack of memory is not stopped."
_ENDED = {
    "time": "Your code was still running when the time was over: it may loop for ever.",
    "exit": "Your code ended the Python process (os._exit or the like) before its result could be checked.",
    "crash": "Your code crashed the Python process: recursion without an end, or memory that was overwritten.",
    "silent": "Your code closed or flooded the channel through which its result is read.",
}


def _start_autograd() -> None:
    """Let autograd count the devices before torch.compile, in a build for CUDA without a GPU, adds one of its own."""
    if torch.backends.cuda.is_built() and not torch.cuda.is_available():
        with torch.inference_mode(False), torch.enable_grad():
            torch.ones((), requires_grad=True).backward()


_start_autograd()


def check(exercise_id: str, answer: Any, *, seed: int | None = None) -> Report:
    """Check an answer to an exercise; the report says what is wrong, never how to do it.

    Args:
        exercise_id: as printed with the exercise: ``"01-relu-by-hand"``.
        answer: what the exercise asks for: the function (not its result), a callable object or class, or a graph.
        seed: chooses weights and inputs; by default new ones at every check, or those of the environment variable
            ``FXBOOK_SEED``, so that a report can be shown again.

    Returns:
        The report; ``.passed`` says whether the public checks passed. It never raises for an answer, whatever that
        does. An answer that never ends is ended after a few seconds; the environment variable ``FXBOOK_PATIENCE``
        multiplies them. A notebook shows the report, a script prints it. ``.case`` is the case that failed: its model,
        arguments, inputs and graph.
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
    """What to tell of an exercise of the book whose check is not in this copy of the library."""
    chapters = tasks.chapters()
    held = f"those of chapter{'s' if chapters[1:] else ''} {', '.join(chapters)}" if chapters else "no checks"
    return f"The check of {exercise_id} is not in this folder, which holds {held}: ask your teacher for its exercises."


def check_with(exercise: Exercise, answer: Any, *, seed: int | None = None) -> Report:
    """Check an answer against a specification at hand; otherwise as :func:`check`."""
    seed = new_seed() if seed is None else seed
    verdict, note = _verdict(exercise, answer, seed), "" if apart.CAN_FORK else UNPROTECTED
    return Report(about(exercise.id), verdict, note, FailedCase.of(exercise, seed, verdict))


def _verdict(exercise: Exercise, answer: Any, seed: int) -> Verdict:
    try:
        # Small models wait for threads longer than they compute; and the child has one thread, too.
        with _on_one_thread():
            prepared = prepare(exercise, seed)
            if not apart.CAN_FORK:
                return _verdict_here(exercise, prepared, answer, seed)
            longest = max(LONGEST_SECONDS, _LONGEST_TIMES * exercise.seconds) * apart.patience()
            end = time.monotonic() + longest
            outcome = _observed_apart(exercise, prepared, answer, longest)
            if outcome.data is None:
                return Verdict(Violation(_ENDED[outcome.ended], rule="ends well"))
            if _NO_AUTOGRAD in str(outcome.data):
                # It came back, so it needs the protection of a child no more.
                return _verdict_here(exercise, prepare(exercise, seed), answer, seed)

            def again(anew: Prepared) -> Any:
                return _observed_apart(exercise, anew, answer, end - time.monotonic()).data

            # What the child did to it did not come back.
            unchanged = dict(zip(drawn_order(exercise, seed), (case.arguments for case in prepared.cases), strict=True))
            trials = trials_of(exercise, seed, unchanged)
            verdict = judge(exercise, outcome.data, seed, trials, looking_inside(exercise, seed, again))
            if verdict.violation and verdict.violation.rule == CHECK_WORKS:
                without = _observed_apart(exercise, prepare(exercise, seed), _does_nothing, longest).data
                return _whose(verdict, outcome.data, without)
            if verdict.violation and torch.backends.cuda.is_built() and not _a_child_differentiates():
                # The answer, or the check, may have caught what torch said.
                return _verdict_here(exercise, prepare(exercise, seed), answer, seed)
            return verdict
    except Exception as error:
        return failed(f"{type(error).__name__}: {error}")


def _a_child_differentiates() -> bool:
    def differentiated() -> bool:
        torch.ones((), requires_grad=True).backward()
        return True

    return apart.run_apart(differentiated, apart.patience()).data is True


def _verdict_here(exercise: Exercise, prepared: Prepared, answer: Any, seed: int) -> Verdict:
    """The verdict on an answer that runs in this process."""
    guard = Guard()
    seconds = exercise.seconds * apart.patience()
    observation = observe(prepared, answer, seconds)
    guard.put_back()
    verdict = judge(exercise, observation, seed)
    if verdict.violation and verdict.violation.rule == CHECK_WORKS:
        return _whose(verdict, observation, observe(prepare(exercise, seed), _does_nothing, seconds))
    return verdict


def _does_nothing(*arguments: Any) -> Any:
    """An answer that returns the model that it is given, if it is given one."""
    return next((one for one in arguments if isinstance(one, nn.Module)), None)


def _whose(verdict: Verdict, observation: Any, without: Any) -> Verdict:
    """The verdict on an answer behind which the check itself failed.

    Args:
        verdict: it says that the check is wrong.
        observation: what the verdict was made of.
        without: what was observed of an answer that does nothing. Where all goes well there, the check works, and it
            fails on what the learner's code has made.
    """
    if without is None or without["error"] or without["problem"] or any(case["error"] for case in without["cases"]):
        return verdict
    told = f"fxbook cannot read what your code returns or changes ({own_error(read(observation))})"
    message = f"{told}. If nothing is wrong with that, please report it."
    return dataclasses.replace(verdict, violation=Violation(message, rule="ends well"))


def _observed_apart(exercise: Exercise, prepared: Prepared, answer: Any, longest: float) -> apart.Outcome:
    if longest < GRACE_SECONDS:
        return apart.Outcome(None, "time")
    seconds = exercise.seconds * apart.patience()
    observing = functools.partial(observe, prepared, answer, seconds, longest - GRACE_SECONDS)
    return apart.run_apart(observing, seconds + GRACE_SECONDS, longest=longest)


@contextlib.contextmanager
def _on_one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
