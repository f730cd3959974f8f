"""Return much, in ways that are short to write: long, deep, and the same thing many times.

Harm: the grader runs out of memory, and the next one gets nothing.
"""

ANSWERS = "no report"


def paired(*given):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    many = [0] * 5000
    for _ in range(4):
        many = [many] * 5000
    return [deep, many, "x" * (1 << 26), 10 ** (10**6)]
