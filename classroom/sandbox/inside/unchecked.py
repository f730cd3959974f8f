"""Stand-in for ``fxbook.checking`` where submissions run: cells may call a check, but nothing is judged there."""

from __future__ import annotations


class Unchecked:
    passed = None
    case = None

    def __repr__(self) -> str:
        return "not checked here"


def check(*_: object, **__: object) -> Unchecked:
    return Unchecked()
