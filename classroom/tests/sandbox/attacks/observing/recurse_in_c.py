"""Use up the stack of C, where Python does not count.

Harm: the process that imports torch for all ends with it.
"""

import sys


class Deep:
    def __getattr__(self, name):
        return getattr(self, name + "x")


def paired(*given):
    sys.setrecursionlimit(10**9)
    return Deep().x
