r"""A factory such as `torch.zeros` is recorded when its size is one Proxy, or another argument is one.

Before {since}, `torch.zeros(x.shape)`, `torch.arange(x.shape[0])` and `torch.arange(2, device=x.device)` raised a
`TypeError` while you traced. Use a method of the input, as in `x.new_zeros(x.shape)`, or wrap the call in a function
for `fx.wrap`: both are right on every version. Several sizes one by one, as in `torch.zeros(x.size(0), x.size(1))`,
are refused on every version.

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
