"""A traced function that has a string as an annotation cannot be pickled.

From {later} on, it can. `from __future__ import annotations` turns every annotation into a string.
"""

import pickle

import torch
from torch import fx


def halved(x: "torch.Tensor"):
    return x / 2


try:
    print(pickle.loads(pickle.dumps(fx.symbolic_trace(halved)))(torch.ones(1)).item())
except AttributeError:
    print("AttributeError")
