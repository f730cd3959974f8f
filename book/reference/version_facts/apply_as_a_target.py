"""A module whose graph calls `apply` of your own `autograd.Function` can be created but fails when it runs.

From {later} on, creating the module raises an error. Let the node call a function of your own that calls `apply`, which
works on every version.
"""

import torch
from torch import fx


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


graph = fx.Graph()
graph.output(graph.call_function(Same.apply, (graph.placeholder("x"),)))
try:
    module = fx.GraphModule({}, graph)
    module(torch.ones(1))
except Exception as error:
    print(f"{type(error).__name__}: {error}")
