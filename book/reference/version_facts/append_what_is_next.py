"""`node.append(other)` is silent if `other` already comes directly after `node`.

Before {since}, it warned: `Trying to prepend a node to itself`. It left the graph unchanged, as it does now.
"""

import warnings

import torch
from torch import fx

graph = fx.Graph()
x = graph.placeholder("x")
relu = graph.call_function(torch.relu, (x,))
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    x.append(relu)
print("warnings:", len(seen))
