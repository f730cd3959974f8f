r"""`torch.compiler.is_exporting` exists.

Before {since}, it did not. If the installed transformers calls it, `torch.compile` raises an `InternalTorchDynamoError`
for its models. Use an older transformers on those versions.

Explains:
    module 'torch\.compiler' has no attribute 'is_exporting'
"""

import torch

print("yes" if hasattr(torch.compiler, "is_exporting") else "no")
