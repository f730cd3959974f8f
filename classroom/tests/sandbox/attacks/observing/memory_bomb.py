"""Take memory without end, as Python objects.

Harm: the machine runs out of memory; the answer says that four gigabytes were to be had.
"""


def paired(*given):
    taken = []
    while len(taken) < 4 << 10:
        taken.append(bytearray(1 << 20))
    return ["4 GB of objects"]
