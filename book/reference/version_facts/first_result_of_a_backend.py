r"""What a backend of `torch.compile` returns may be any sequence: the compiled function takes what it needs of it.

Before {since} the compiled function unpacked it, and a tensor in place of a tuple raised a `ValueError`.

Explains:
    11_compile_backend\.ipynb: torch\.Size\(\[4\]\) => ValueError: too many values
"""

import torch


def first(module, inputs):
    return lambda *arguments: module(*arguments)[0]


try:
    print(tuple(torch.compile(torch.nn.Linear(4, 4), backend=first)(torch.ones(2, 4)).shape))
except ValueError:
    print("ValueError")
