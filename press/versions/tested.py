"""The tests that depend on torch: those that run a cell, judge an answer, draw a graph or edit one.

The other tests look at generated pages, grade answers that these tests judge already, or test tools of the press.
"""

from __future__ import annotations

from collections.abc import Sequence

from packaging.version import Version

from press.rooms import names_tests
from press.versions.record import ALIKE

# The first version on which the book is tested. On an older version, cells and answers may differ: see the record.
PROVEN_FROM = ALIKE[0]
# Tests of what works on every version. Those of the chapters' passes skip themselves on older versions.
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
# The reports of known answers, of which some have other words on other versions.
ANSWERS = ("test_answers.py", "test_clauses.py", "test_exercises.py")
# Tests for the versions that the book is tested on. From tests/book, only files that run torch code.
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
    return Version(version) >= Version(PROVEN_FROM)


def pytest_arguments(arguments: Sequence[str], version: str) -> list[str]:
    """The arguments for pytest, with all tests for the version unless the arguments already name some."""
    if names_tests(arguments):
        return list(arguments)
    if is_proven(version):
        return [*arguments, *TESTS]
    return [*arguments, *LIBRARY, *(f"--ignore=tests/checking/{name}" for name in ANSWERS)]
