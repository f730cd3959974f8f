"""`FuseBatchNorm1dInLinear` folds a batch norm that works on another dimension.

Expected: on a three-dimensional input, `Linear` works on the last dimension and `BatchNorm1d` on the second, so they
are not folded into one layer.
What happens: they are folded if both dimensions happen to have the same size.
Workaround: fuse only if the input has two dimensions.
"""

import copy

import torch
from optimum.fx.optimization import FuseBatchNorm1dInLinear
from torch import fx, nn

from fxbook import check_pass

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).eval()
model[1].running_var.copy_(torch.tensor([1.0, 4.0]))
x = torch.ones(1, 2, 2)
module = fx.symbolic_trace(model)
fused = FuseBatchNorm1dInLinear()(copy.deepcopy(module))
assert not torch.allclose(fused(x), module(x))
print(check_pass(FuseBatchNorm1dInLinear(), module, (x,), keep=["values"]))
