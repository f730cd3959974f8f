"""Replace the public cases of an exercise with a teacher's hidden cases."""

from __future__ import annotations

from typing import Any

from fxbook.grading import Case, Exercise, tasks

from .rooms import NotBegunError

NAME = "CASES"


def exercise_of(task: Any) -> Exercise:
    """The exercise of ``{"exercise": id, "hidden": text}``, with hidden cases if the text is not empty.

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
    """The exercise with the cases of a Python text that defines ``CASES``, a dict by exercise id.

    Raises:
        Exception: anything that the text raises.
        ValueError: it defines no cases for this exercise.
    """
    names: dict[str, object] = {"__name__": "hidden"}
    exec(compile(text, "<hidden variants>", "exec"), names)
    # Removed, so that functions in the text cannot reveal it.
    given = names.pop(NAME, None)
    cases = given.get(exercise.id) if isinstance(given, dict) else None
    if not isinstance(cases, tuple | list) or not cases or not all(isinstance(case, Case) for case in cases):
        raise ValueError(f'give {NAME} = {{"{exercise.id}": (Case(…), …), …}}, a tuple of Case for each id')
    return exercise.on(cases)
