"""Print a gigabyte.

Ends: nothing worked or MemoryError
"""


def paired(*given):
    for _ in range(1000):
        print("x" * (1 << 20))
    return []
