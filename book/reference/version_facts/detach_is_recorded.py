r"""`make_fx` records `x.detach()` as one `aten.detach`.

Before {since} it recorded two. From {later} on it records `aten.alias`, which lets gradients through: a graph that is
trained computes other gradients than the program does. Look for both operators, and make a value free of gradients
outside of what is recorded.

Explains:
    forward: t addmm relu (detach )?t_1
    \[mul, detach, add_1\]
"""

import torch
from torch.fx.experimental.proxy_tensor import make_fx

graph = make_fx(lambda x: x.detach() + 1)(torch.ones(1)).graph
print(*(node.target for node in graph.nodes if node.op == "call_function"))
