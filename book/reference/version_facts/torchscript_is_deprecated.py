r"""`torch.jit.script`, `torch.jit.trace` and `torch.jit.save` warn that they are deprecated.

Before {since} they do not.

Explains:
    `torch\.jit\.\w+` is deprecated
"""

import warnings

import torch

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torch.jit.script(torch.nn.ReLU())
print("yes" if any("is deprecated" in str(one.message) for one in caught) else "no")
