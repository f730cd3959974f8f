r"""TorchDynamo can read the names of a function's variables from `function.__code__.co_varnames`.

Before {since}, it could not trace a test for a name among them, so it rejected the models of transformers, which
contain such tests.

Explains:
    GetAttrVariable\(GetSetDescriptorVariable\(\), co_varnames\)
"""

import torch


def named(x):
    return x


def asking(x):
    return x + 1 if "x" in named.__code__.co_varnames else x


try:
    torch.compile(asking, backend="eager", fullgraph=True)(torch.ones(2))
    print("read")
except Exception as error:
    print(type(error).__name__)
