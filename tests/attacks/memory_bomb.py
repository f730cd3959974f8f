"""Take 64 GB as Python objects.

Ends: MemoryError
"""


def paired(*given):
    return [bytearray(1 << 20) for _ in range(64 << 10)]
