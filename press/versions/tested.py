"""The tests that another torch can change: whatever runs a cell, judges an answer, draws a graph or edits one.

The other tests look at pages as they are printed, at the grading of answers that the first tests judge already, or at
tools of the press; they meet torch only where they start what is tested here.
"""

from __future__ import annotations

from collections.abc import Sequence

from packaging.version import Version

from press.rooms import names_tests
from press.versions.record import ALIKE

# The first version on which the book is proven. On an older one cells and answers may do otherwise: see the record.
PROVEN_FROM = ALIKE[0]
# The tests of what works on every version. Among them are tests of the chapters' passes, which an older one skips.
LIBRARY = (
    "tests/checking",
    "tests/drawing",
    "tests/learning",
    "tests/models",
    "tests/operating",
    "tests/passes",
    "tests/plotting",
    "tests/stepping",
)
# Of these, what every known answer is told: on other versions `python -m press versions --answers` records it.
ANSWERS = ("test_answers.py", "test_clauses.py", "test_exercises.py")
# Proven on each version alike. Of tests/book those files that run code of torch; its others read the manuscript.
TESTS = (
    "chapters",
    "solutions",
    *LIBRARY,
    "tests/mutation",
    "tests/book/test_questions.py",
    "tests/book/test_recordings.py",
    "tests/book/test_wrong_keywords.py",
    "classroom/tests/judge",
    "tests/press/test_warm_kernels.py",
)


def is_proven(version: str) -> bool:
    """Whether the book is proven on that version of torch."""
    return Version(version) >= Version(PROVEN_FROM)


def asked(arguments: Sequence[str], version: str) -> list[str]:
    """The arguments of pytest: those that were given, and all tests of the version where they name none."""
    if names_tests(arguments):
        return list(arguments)
    if is_proven(version):
        return [*arguments, *TESTS]
    return [*arguments, *LIBRARY, *(f"--ignore=tests/checking/{name}" for name in ANSWERS)]
