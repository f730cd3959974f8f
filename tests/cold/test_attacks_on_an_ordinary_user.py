"""All attacks also fail if the grader does not run as root."""

from __future__ import annotations

import pytest

from classroom.tests.sandbox.test_observing_attacks import attacked_as_nobody

TESTS = ("observing_attacks", "judging_attacks", "reading_attacks", "rooms_taken_over")


@pytest.mark.parametrize("tests", TESTS)
def test_ordinary_user_is_safe_from_all_attacks(tests: str) -> None:
    attacked_as_nobody("test", f"test_{tests}.py")
