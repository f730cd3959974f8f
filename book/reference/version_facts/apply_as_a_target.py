"""A graph that calls `Function.apply` of a class of yours is made, and fails when it runs.

From {later} on, making the module is refused.
A function of yours around `apply` is right on every version.
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
