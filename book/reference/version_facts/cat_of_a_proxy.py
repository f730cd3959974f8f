r"""A call to `torch.cat` is recorded if a Proxy is passed instead of a list.

Before {since}, the call raised a `TypeError` while you traced. On those versions, write the list out, or use `fx.wrap`.

Explains:
    => TypeError: cat\(\): argument 'tensors'
"""

import torch
from torch import fx

try:
    fx.symbolic_trace(lambda x: torch.cat(x.split(1)))
    print("traced")
except TypeError:
    print("TypeError")
