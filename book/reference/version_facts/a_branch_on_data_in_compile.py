"""With `fullgraph=True`, `torch.compile` rejects a branch on a value with an `Unsupported` error.

Before {since}, the error was a `UserError`: `Dynamic control flow is not supported at the moment`. An export with
`strict=True` says the same.

Explains:
    => UserError: Dynamic control flow is not supported at the moment
"""

import torch


def signed(x):
    return x if x.sum() > 0 else -x


try:
    torch.compile(signed, backend="eager", fullgraph=True)(torch.ones(2))
except Exception as error:
    print(type(error).__name__)
