r"""An exported program rejects an input of another size with an `AssertionError`: `Guard failed`.

Before {since}, it raised a `RuntimeError`: `Expected input at *args[0].shape[0] to be equal to 3, but got 2`.

Explains:
    AssertionError: Guard failed: .* => (torch\.export a graph of \d+ nodes, )?RuntimeError: Expected input
    RuntimeError: Expected input at .* => RuntimeError: Expected input
    RuntimeError: shape .* => RuntimeError: Expected input at
"""

import torch

program = torch.export.export(torch.nn.ReLU(), (torch.ones(3, 4),))
try:
    program.module()(torch.ones(2, 4))
except Exception as error:
    print(type(error).__name__)
