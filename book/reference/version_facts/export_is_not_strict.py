r"""`torch.export.export` runs the program in Python; `strict=True` makes TorchDynamo read its bytecode.

Before {since}, the default was `strict=True`: TorchDynamo read the bytecode and rejected anything it did not know, with
an `Unsupported`, a `UserError` or an `InternalTorchDynamoError`. It left out weights that the program does not use. It
recorded a line that formats a number, whereas an export with `strict=False` stops there. `strict=False` is right on
every version.

Explains:
    => torch\.export (Unsupported|UserError|BackendCompilerFailed|TorchRuntimeError)
    => torch\.export (KeyError|RuntimeError|InternalTorchDynamo)
    => (TorchRuntimeError|UserError|UncapturedHigherOrderOpError|Unsupported)
    => InternalTorchDynamoError(?!.*'is_exporting')
    torch\.export a graph of 15 nodes, right => torch\.export a graph of 12 nodes, right
    => IndexError: tuple index out of range$
    unsupported format string passed to FakeTensor.* => torch\.export a graph of 4 nodes, right
    01_node_creation.*'original_aten', 'seq_nr'
    branch_in_a_try wrong wrong wrong right =>
    11_compile_backend.*: SpecViolationError: .* => ValueError: not enough values
    FeedForward old: False => FeedForward old: True
    10-open-batch .* => 10-open-batch .*not yet
"""

import inspect

import torch

print(f"strict={inspect.signature(torch.export.export).parameters['strict'].default}")
