"""Print a gigabyte.

Harm: the grader runs out of memory, and the next one gets nothing.
"""


def paired(*given):
    for _ in range(1000):
        print("x" * (1 << 20))
    return []
