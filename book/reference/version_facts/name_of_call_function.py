"""`graph.call_function` accepts `name=`.

Before {since}, only `graph.create_node` accepted a name: `graph.create_node("call_function", torch.add, (x, y),
name="total")`. This is right on every version.

Explains: unexpected keyword argument 'name'
"""

import torch
from torch import fx

graph = fx.Graph()
x = graph.placeholder("x")
print(graph.call_function(torch.relu, (x,), name="total").name)
