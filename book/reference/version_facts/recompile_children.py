"""`recompile()` of a GraphModule recompiles those of its children that are GraphModules.

Before {since}, `recompile()` made the code of the module that you call it on, and of no other: after an edit of the
graph of a submodule, call `recompile()` of that submodule as well. That is right on every version.

Explains: 04_recompile.* (new => |near: )
"""

import torch
from torch import fx, nn

inner = fx.symbolic_trace(nn.Sequential(nn.ReLU()))
graph = fx.Graph()
graph.output(graph.call_module("inner", (graph.placeholder("x"),)))
outer = fx.GraphModule({"inner": inner}, graph)
for node in inner.graph.nodes:
    if node.op == "call_module":
        node.op, node.target = "call_function", torch.neg
outer.recompile()
print("new code inside" if outer(torch.ones(1)).item() == -1 else "old code inside")
