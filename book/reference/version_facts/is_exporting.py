r"""`torch.compiler.is_exporting` exists.

Before {since} it did not, and the models of transformers, which call it, cannot be compiled or exported there.

Explains:
    module 'torch\.compiler' has no attribute 'is_exporting'
"""

import torch

print(hasattr(torch.compiler, "is_exporting"))
