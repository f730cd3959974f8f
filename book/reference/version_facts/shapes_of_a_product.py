"""If the input does not fit, a linear layer says `mat1 and mat2 shapes cannot be multiplied`.

From {later} on, the message begins with the name of the operator: `addmm: mat1 and mat2`, or `mm: mat1 and mat2` for a
product of two matrices. Look for the words after the name, which are the same on all versions.
"""

import torch

try:
    torch.nn.Linear(2, 2)(torch.ones(1, 3))
except RuntimeError as error:
    print(f"RuntimeError: {error}")
