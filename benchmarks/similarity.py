"""Measure how many honest pairs of answers the class report lists as alike, and how many copies.

The honest answers are the right ones of each exercise, which were chosen to differ. The answers in a real class are
more alike, so a listed pair is only a hint. Each copy is compared among the honest answers. Run
``benchmarks/similarity.py``.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from classroom.reports.similarity import LEAST_OWN, explained, pairs, runs
from classroom.tests.reports.copying import DISGUISES, honest, plain
from fxbook.catalogue import catalogue


def measured() -> Counter[str]:
    """Count the answers, pairs and copies.

    ``"honest"`` counts the ``"honest pairs"`` that are listed, and ``"long enough"`` the ``"answers"`` that are long
    enough to be compared. The other keys count copies.
    """
    counts: Counter[str] = Counter()
    draw = random.Random(1)
    for about in catalogue().values():
        book = explained(about)
        sources = honest(about.id)
        texts = [plain(about.id, source) for source in sources]
        counts["answers"] += len(texts)
        counts["honest pairs"] += len(texts) * (len(texts) - 1) // 2
        counts["honest"] += len(pairs(texts, book))
        for at, source in enumerate(sources):
            counts["long enough"] += len(runs(texts[at]) - book) >= LEAST_OWN
            for name, disguise in DISGUISES.items():
                copy = plain(about.id, disguise(source, draw))
                counts[name] += (at, len(texts)) in pairs([*texts, copy], book)
    return counts


def main() -> None:
    counts = measured()
    print(f"honest pairs listed: {counts['honest']} of {counts['honest pairs']}")
    print(f"answers with enough of their own to be compared: {counts['long enough']} of {counts['answers']}")
    for name, disguise in DISGUISES.items():
        print(f"copies found: {counts[name]} of {counts['answers']}. {disguise.__doc__}")


if __name__ == "__main__":
    main()
