'''The exercises and what is checked of each: one module per chapter, ``chapter_00`` to ``chapter_NN``.

A chapter's module holds ``EXERCISES``, a tuple of :class:`Exercise`. A complete one::

    """What the exercises of chapter 02 ask."""

    import torch
    from torch import nn

    from fxbook.checks import Case, Exercise
    from fxbook.checks.families import LINEAR, RELU
    from fxbook.checks.predicates import calls_after, edited, input_unchanged, lints, recompiled, same_result_or


    class WithRelu(nn.Module):
        """The model asked for in eager terms: relu after each linear."""
        ...


    EXERCISES = (
        Exercise(
            id="02-relu-after-linear",
            use="edit",  # called with an fx.GraphModule, edits it, may return None
            cases=(
                Case("the two-layer MLP", lambda: MLP(4, 8), lambda: (torch.randn(3, 4),)),
                Case("a model with a skip", lambda: Skip(6), lambda: (torch.randn(5, 6),), unseen=True),
            ),
            expected=lambda model, x: model.with_relu(x),
            properties=(
                lints,
                recompiled,
                same_result_or(calls_after(RELU, LINEAR)),
                edited,
            ),
        ),
    )
'''

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence

from fxbook.checks.exercise import Case, Exercise, eager, nothing, traced
from fxbook.checks.view import CaseView, Property, Violation

__all__ = [
    "Case",
    "CaseView",
    "Exercise",
    "Property",
    "Violation",
    "all_exercises",
    "eager",
    "find",
    "nothing",
    "traced",
]


def find(exercise_id: str) -> Exercise | None:
    """The exercise of that id, or ``None``; only the module of its chapter is imported.

    What students get holds the chapters that they are asked, and no others.
    """
    chapter = str(exercise_id)[:2]
    if chapter not in chapters():
        return None
    module = importlib.import_module(f"{__name__}.chapter_{chapter}")
    return next((exercise for exercise in module.EXERCISES if exercise.id == exercise_id), None)


def all_exercises(of: Sequence[str] = ()) -> tuple[Exercise, ...]:
    """Every exercise of every chapter, in order; or of some chapters, ``("02",)``, whose modules alone are imported.

    Raises:
        ValueError: an id is used twice, or stands in the module of another chapter.
    """
    found: dict[str, Exercise] = {}
    for chapter in of or chapters():
        for exercise in importlib.import_module(f"{__name__}.chapter_{chapter}").EXERCISES:
            if exercise.id in found:
                raise ValueError(f"fxbook/checks/chapter_{chapter}.py: the id {exercise.id!r} is used twice")
            if not exercise.id.startswith(f"{chapter}-"):
                raise ValueError(f"fxbook/checks/chapter_{chapter}.py: {exercise.id!r} must begin with {chapter}-")
            found[exercise.id] = exercise
    return tuple(found.values())


def chapters() -> list[str]:
    """The numbers of the chapters whose exercises are here, as ``"02"``."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [name.removeprefix("chapter_") for name in names if name.startswith("chapter_")]
