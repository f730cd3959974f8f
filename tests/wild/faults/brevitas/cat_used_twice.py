"""`preprocess_for_quantize` drops one of two uses of a value that is concatenated with itself.

Expected: `cat([y, y])`, where `y = cat([x, x + 1])`, becomes `cat([x, x + 1, x, x + 1])`.
What happens: `CollapseConsecutiveConcats` makes it `cat([x, x + 1])`.
Workaround: write `cat([y, y.clone()])`.
"""

import torch
from brevitas.graph.quantize import preprocess_for_quantize
from torch import Tensor, fx, nn

from fxbook import check_pass


class Twice(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = torch.cat([x, x + 1], dim=0)
        return torch.cat([y, y], dim=0)


def preprocess(module: nn.Module) -> fx.GraphModule:
    # brevitas traces to a graph module of its own.
    return fx.symbolic_trace(preprocess_for_quantize(module))


x = torch.zeros(1)
assert Twice()(x).tolist() == [0, 1, 0, 1] and preprocess(Twice())(x).tolist() == [0, 1]
print(check_pass(preprocess, fx.symbolic_trace(Twice()), (x,), keep=["values"]))
