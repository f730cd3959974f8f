r"""`torch.cat` is recorded when its list is a Proxy.

Before {since} it raised a `TypeError` while you traced. Write the list out, or use `fx.wrap`.

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
