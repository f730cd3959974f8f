r"""If a backend's function returns a tensor instead of a tuple, `torch.compile` takes each row as one result.

Before {since}, this raised a `ValueError` unless there were as many rows as results. Return a tuple, which works on
every version.

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
