"""Stands for ``fxbook.checking`` where submissions run: a cell may ask for a check, and nothing is judged there."""

from __future__ import annotations


class Unchecked:
    """A report that says nothing."""

    passed = None
    case = None

    def __repr__(self) -> str:
        return "not checked here"


def check(*_: object, **__: object) -> Unchecked:
    """Say nothing; the answer is judged elsewhere, and later."""
    return Unchecked()
