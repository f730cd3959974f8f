"""Pickling an ATen operator raises a `RuntimeError`.

Before {since}, it raised a `TypeError`: `cannot pickle 'PyCapsule' object`.

Explains:
    => TypeError: cannot pickle 'PyCapsule' object
"""

import pickle

import torch
from torch.fx.experimental.proxy_tensor import make_fx

try:
    pickle.dumps(make_fx(torch.relu)(torch.ones(2)).graph)
    print("pickled")
except Exception as error:
    print(type(error).__name__)
