"""`FuseBatchNorm2dInConv2d` adds 1 if the batch norm has no bias.

Expected: `BatchNorm2d(affine=False)`, without weight and bias, acts like a weight of 1 and a bias of 0.
What happens: the missing bias is treated as 1.
Workaround: leave `affine` on, or fuse with `torch.fx.experimental.optimization.fuse`.
"""

import copy

import torch
from optimum.fx.optimization import FuseBatchNorm2dInConv2d
from torch import fx, nn

from fxbook import check_pass

model = nn.Sequential(nn.Conv2d(1, 1, 1, bias=False), nn.BatchNorm2d(1, affine=False)).eval()
image = torch.zeros(1, 1, 1, 1)
module = fx.symbolic_trace(model)
fused = FuseBatchNorm2dInConv2d()(copy.deepcopy(module))
assert module(image).item() == 0 and fused(image).item() == 1
print(check_pass(FuseBatchNorm2dInConv2d(), module, (image,), keep=["values"]))
