"""`FakeTensorProp` stores the value of a node even if it is a number.

Before {since}, only tensors had a `val` in `meta`. On those versions, read `node.meta.get("val")`.

Explains:
    07_placeholder.* => KeyError: 'val'
    => softmax is left alone: truediv scales by a tensor
"""

import torch
from torch import fx
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

traced = fx.symbolic_trace(lambda x, factor: x * (factor + 1))
FakeTensorProp(traced).propagate(torch.ones(2), 2.0)
[number, *_] = [node for node in traced.graph.nodes if node.op == "call_function"]
print("yes" if "val" in number.meta else "no")
