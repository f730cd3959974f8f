"""`graph.call_function` takes `name=`.

Before {since}, only `graph.create_node` took a name:
`graph.create_node("call_function", torch.add, (x, y), name="total")`. That is right on every version.

Explains: unexpected keyword argument 'name'
"""

import torch
from torch import fx

graph = fx.Graph()
x = graph.placeholder("x")
print(graph.call_function(torch.relu, (x,), name="total").name)
