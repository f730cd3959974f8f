"""`torch.autograd.Function.apply` accepts arguments by name.

Before {since}, it did not. Pass the arguments by position, which works on every version.
"""

import torch


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        return x * factor

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


try:
    print(Scaled.apply(torch.tensor(1.0), factor=2.0).item())
except TypeError as error:
    print(f"TypeError: {error}")
