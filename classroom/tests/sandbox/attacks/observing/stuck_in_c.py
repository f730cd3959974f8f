"""Hold Python's lock in one call that takes years, so that no handler of a signal can run.

Harm: it runs on, and the next one waits.
"""

import itertools


def paired(*given):
    return sum(itertools.repeat(0))
