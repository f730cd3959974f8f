"""Take memory without end, as tensors; 64 GB as one.

Harm: the machine runs out of memory; the answer says how much was to be had.
"""

import torch


def paired(*given):
    try:
        return [f"{torch.empty(1 << 36, dtype=torch.uint8).nbytes >> 30} GB in one tensor"]
    except RuntimeError:
        pass
    taken = []
    while len(taken) < 256:
        taken.append(torch.ones(1 << 22))
    return ["4 GB of tensors"]
