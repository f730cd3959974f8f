"""Draw a new random share of the long tests for each run of the room *cold*.

``python -m press prove`` chooses and prints the number of the draw; ``DRAW=7`` repeats that draw.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")
NUMBER = int(os.environ.get("FXBOOK_DRAW", "1"))


def some(cases: Sequence[Case], count: int) -> list[Case]:
    """At most this many of the cases, in order."""
    chosen = random.Random(NUMBER).sample(range(len(cases)), min(count, len(cases)))
    return [cases[place] for place in sorted(chosen)]


def seeds(count: int) -> list[int]:
    """Seeds other than those of ``make test``."""
    return random.Random(NUMBER).sample(range(2, 2**20), count)
