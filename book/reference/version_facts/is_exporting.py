r"""`torch.compiler.is_exporting` exists.

Before {since} it did not. Where the installed transformers calls it, `torch.compile` of its models raises an
`InternalTorchDynamoError`. Take an older transformers there.

Explains:
    module 'torch\.compiler' has no attribute 'is_exporting'
"""

import torch

print("yes" if hasattr(torch.compiler, "is_exporting") else "no")
