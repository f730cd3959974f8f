r"""A factory such as `torch.zeros` is recorded when its size is a single Proxy or when another argument is a Proxy.

Before {since}, `torch.zeros(x.shape)`, `torch.arange(x.shape[0])` and `torch.arange(2, device=x.device)` raised a
`TypeError` while you traced. Use a method of the input, as in `x.new_zeros(x.shape)`, or put the call into a function
for `fx.wrap`: both are right on every version. Separate sizes are rejected on every version if the first is a Proxy, as
in `torch.zeros(x.size(0), x.size(1))`.

Explains:
    => TypeError: (zeros|arange)\(\)
    => symbolic_trace TypeError: (zeros|arange)\(\)
    => gpt2 position_ids = torch\.arange
    => TypeError: rand\(\)
"""

import torch
from torch import fx

programs = (
    lambda x: torch.zeros(x.shape),
    lambda x: torch.arange(x.shape[0]),
    lambda x: torch.arange(2, device=x.device),
)
told = []
for program in programs:
    try:
        fx.symbolic_trace(program)
        told.append("traced")
    except TypeError:
        told.append("TypeError")
print(*told)
