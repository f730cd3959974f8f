"""The tests that another torch can change: whatever runs a cell, judges an answer, draws a graph or edits one.

The other tests look at pages as they are printed, at the grading of answers that the first tests judge already, or at
tools of the press; they meet torch only where they start what is tested here.
"""

from __future__ import annotations

from collections.abc import Sequence

# Proven on each version alike. Of tests/book those files that run code of torch; its others read the manuscript.
TESTS = (
    "chapters",
    "solutions",
    "tests/checking",
    "tests/drawing",
    "tests/learning",
    "tests/models",
    "tests/mutation",
    "tests/operating",
    "tests/passes",
    "tests/plotting",
    "tests/stepping",
    "tests/book/test_questions.py",
    "tests/book/test_recordings.py",
    "tests/book/test_wrong_keywords.py",
    "tests/classroom/judge",
    "tests/press/test_warm_kernels.py",
)


def asked(arguments: Sequence[str]) -> list[str]:
    """The arguments of pytest: those that were given, and ``TESTS`` where they name no file and no folder."""
    named = [one for one in arguments if one.partition("::")[0].startswith(("tests", "chapters", "solutions"))]
    return [*arguments, *(() if named else TESTS)]
