"""Check an answer, in two halves that exchange plain data alone.

:mod:`fxbook.observing` runs the learner's code in a child process. ``judge`` reads the JSON that comes back, and
nothing of the learner's; ``report`` tells the verdict, ``verify`` puts the halves together, ``failed`` makes the case
again that failed. What an exercise asks stands in :mod:`fxbook.tasks`.
"""

import importlib
import os
import random

__all__ = ["check", "check_with"]

# An environment variable: the seed of every check that is given none.
SEED_VARIABLE = "FXBOOK_SEED"


def new_seed() -> int:
    """The seed of a check that is given none: a random one, or that of the environment."""
    told = os.environ.get(SEED_VARIABLE, "")
    return int(told) if told.isascii() and told.isdecimal() else random.SystemRandom().randrange(2**31)


def __getattr__(name: str) -> object:
    """Import on first use: doing work in a child needs no torch."""
    if name in __all__:
        return getattr(importlib.import_module("fxbook.checking.verify"), name)
    raise AttributeError(f"module 'fxbook.checking' has no attribute {name!r}")
