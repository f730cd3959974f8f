"""Take 64 GB as tensors, and as one.

Ends: RuntimeError
"""

import torch

try:
    torch.empty(1 << 36, dtype=torch.uint8)
except RuntimeError:
    pass


def paired(*given):
    return [torch.ones(1 << 22) for _ in range(4 << 10)]
