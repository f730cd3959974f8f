"""Choose a random sample of the long tests for each run of the room *cold*.

``python -m press prove`` chooses and prints the seed; ``DRAW=7`` uses the seed 7.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")
NUMBER = int(os.environ.get("FXBOOK_DRAW", "1"))


def some(cases: Sequence[Case], count: int) -> list[Case]:
    """A random sample of at most ``count`` cases, in order."""
    chosen = random.Random(NUMBER).sample(range(len(cases)), min(count, len(cases)))
    return [cases[place] for place in sorted(chosen)]


def seeds(count: int) -> list[int]:
    """Random seeds other than those of ``make test``."""
    return random.Random(NUMBER).sample(range(2, 2**20), count)
