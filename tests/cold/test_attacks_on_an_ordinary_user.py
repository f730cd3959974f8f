"""All attacks come to nothing where the grader is not root, too (slow)."""

from __future__ import annotations

from test_sandbox_attacks import attacked_as_nobody


def test_an_ordinary_user_is_as_safe_from_all_attacks() -> None:
    attacked_as_nobody("test")
