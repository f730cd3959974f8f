"""`make_fx` records where a named profiler range begins and ends.

Before {since}, it did not: `torch.profiler.record_function` left no node. `nn.DataParallel` opens such a range.

Explains:
    make_fx right _record_function_enter_new
    make_fx a graph of 1[02] nodes, right => make_fx a graph of (8|10) nodes, right
"""

import torch
from torch.fx.experimental.proxy_tensor import make_fx


def named(x):
    with torch.profiler.record_function("part"):
        return x + 1


graph = make_fx(named)(torch.ones(2)).graph
print("nodes:", sum("record_function" in str(node.target) for node in graph.nodes))
