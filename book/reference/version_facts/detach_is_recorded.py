r"""`make_fx` records a call to `x.detach()` as one `aten.detach`.

Before {since}, it recorded two. From {later} on, it records `aten.alias`, which lets gradients through: if you train
the graph, its gradients differ from those of the program. Look for both operators, and detach the value before or after
the part that is recorded.

Explains:
    make_fx a graph of 5 nodes, right => make_fx a graph of 6 nodes, right
"""

import torch
from torch.fx.experimental.proxy_tensor import make_fx

graph = make_fx(lambda x: x.detach() + 1)(torch.ones(1)).graph
print(*(node.target for node in graph.nodes if node.op == "call_function"))
