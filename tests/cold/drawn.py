"""What the room *cold* takes of what would take hours: a share that is drawn anew for each run.

``python -m press prove`` chooses the number of the draw and says it; with ``DRAW=7`` it draws the same again.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")
NUMBER = int(os.environ.get("FXBOOK_DRAW", "1"))


def some(cases: Sequence[Case], count: int) -> list[Case]:
    """So many of the cases, in their order; all, where there are fewer."""
    chosen = random.Random(NUMBER).sample(range(len(cases)), min(count, len(cases)))
    return [cases[place] for place in sorted(chosen)]


def seeds(count: int) -> list[int]:
    """Other numbers for weights and inputs than those of ``make test``."""
    return random.Random(NUMBER).sample(range(2, 2**20), count)
