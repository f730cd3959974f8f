"""A linear layer whose input does not fit says `mat1 and mat2 shapes cannot be multiplied`.

From {later} on the name of the operator stands in front: `addmm: mat1 and mat2`, and `mm: mat1 and mat2` for a product
of two matrices. Look for the words behind it, which all versions have.
"""

import torch

try:
    torch.nn.Linear(2, 2)(torch.ones(1, 3))
except RuntimeError as error:
    print(f"RuntimeError: {error}")
