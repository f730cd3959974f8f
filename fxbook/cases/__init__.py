"""The vocabulary of the ``cases.py`` and ``check.py`` of an exercise: its specification, and how an answer is run.

This package is copied to where answers run, so it contains no rules: those are in :mod:`fxbook.rules`.
"""

from fxbook.cases.exercise import Case, Check, Exercise, ExtraOutput, Usage, eager, nothing, traced

__all__ = ["Case", "Check", "Exercise", "ExtraOutput", "Usage", "eager", "nothing", "traced"]
