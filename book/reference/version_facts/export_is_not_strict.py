r"""`torch.export.export` runs the program with Python's own interpreter, unless `strict=True` is said.

Before {since} the default was `strict=True`: TorchDynamo read the bytecode, and refused what it did not know, with an
`Unsupported`, a `UserError` or an `InternalTorchDynamoError`. `strict=False` is right on every version.

Explains:
    => torch\.export (Unsupported|UserError|BackendCompilerFailed|TorchRuntimeError)
    => torch\.export (KeyError|RuntimeError|InternalTorchDynamo)
    => (TorchRuntimeError|UserError|UncapturedHigherOrderOpError|InternalTorchDynamoError|Unsupported)
"""

import inspect

import torch

print(f"strict={inspect.signature(torch.export.export).parameters['strict'].default}")
