r"""`make_fx` does not record a slice for a `:` that takes a whole dimension.

It still records one for `x[:]`, which has no other index. Before {since}, it recorded each of them: the graph had more
nodes but computed the same result.

Explains:
    Counter\(.* => Counter\(.*'aten\.slice\.Tensor'
"""

import torch
from torch.fx.experimental.proxy_tensor import make_fx

graph = make_fx(lambda x: x[:, 1:])(torch.ones(2, 3)).graph
print("slices:", len(graph.find_nodes(op="call_function", target=torch.ops.aten.slice.Tensor)))
