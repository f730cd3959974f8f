"""Put a teacher's hidden cases in place of the public ones."""

from __future__ import annotations

from typing import Any

from fxbook.grading import Case, Exercise, tasks

from .rooms import NotBegunError

NAME = "CASES"


def exercise_of(task: Any) -> Exercise:
    """The exercise that is asked for: ``{"exercise": id, "hidden": text}``, on hidden cases where there is a text.

    Raises:
        NotBegunError: there is no such exercise, or the text cannot be used.
    """
    exercise = tasks.find(task["exercise"])
    if exercise is None:
        raise NotBegunError("refused", f"there is no exercise {task['exercise']!r}")
    if not task["hidden"]:
        return exercise
    try:
        return with_cases(exercise, task["hidden"])
    except Exception as error:
        raise NotBegunError("hidden", f"{type(error).__name__}: {error}") from error


def with_cases(exercise: Exercise, text: str) -> Exercise:
    """The exercise on the cases that the text gives it: Python that holds ``CASES``, of an id the cases.

    Raises:
        Exception: whatever the text raises.
        ValueError: it gives no cases, or none to this exercise.
    """
    names: dict[str, object] = {"__name__": "hidden"}
    exec(compile(text, "<hidden variants>", "exec"), names)
    # Not left where the functions of the text could be asked for it.
    given = names.pop(NAME, None)
    cases = given.get(exercise.id) if isinstance(given, dict) else None
    if not isinstance(cases, tuple | list) or not cases or not all(isinstance(case, Case) for case in cases):
        raise ValueError(f'give {NAME} = {{"{exercise.id}": (Case(…), …), …}}, of each id a tuple of Case')
    return exercise.on(cases)
