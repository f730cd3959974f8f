"""`recompile()` of a GraphModule also recompiles its children that are GraphModules.

It does not recompile a GraphModule in a child of another kind, such as an `nn.Sequential`. Before {since},
`recompile()` generated code only for the module that you call it on. After an edit to a submodule's graph, call
`recompile()` on that submodule as well, which works on every version.

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
