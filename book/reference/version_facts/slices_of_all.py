"""`make_fx` and `torch.export` record a slice for a `:` that takes all.

From {later} on they record none: the graph has fewer nodes, and computes the same.
"""

import torch
from torch.fx.experimental.proxy_tensor import make_fx

graph = make_fx(lambda x: x[:, 1:])(torch.ones(2, 3)).graph
print(len(graph.find_nodes(op="call_function", target=torch.ops.aten.slice.Tensor)), "slices")
