"""Check an answer in two halves that exchange only plain data.

:mod:`fxbook.observing` runs the learner's code in a child process. ``judge`` reads the JSON that comes back and none of
the learner's objects; ``report`` shows the verdict, ``verify`` puts the halves together, and ``failed`` recreates the
case that failed. The exercises are in :mod:`fxbook.tasks`.
"""

import importlib
import os
import random

__all__ = ["check", "check_with"]

# An environment variable: the default seed of every check.
SEED_VARIABLE = "FXBOOK_SEED"


def new_seed() -> int:
    """The default seed of a check: the one in the environment, else a random one."""
    told = os.environ.get(SEED_VARIABLE, "")
    return int(told) if told.isascii() and told.isdecimal() else random.SystemRandom().randrange(2**31)


def __getattr__(name: str) -> object:
    """Import on first use: running work in a child needs no torch."""
    if name in __all__:
        return getattr(importlib.import_module("fxbook.checking.verify"), name)
    raise AttributeError(f"module 'fxbook.checking' has no attribute {name!r}")
