"""`FuseBatchNorm2dInConv2d` does not scale the bias of the convolution.

Expected: the fused bias is `(bias - mean) * scale + shift`, with the scale of the batch norm.
What happens: it is `bias - mean * scale + shift`. The two are equal if the convolution has no bias.
Workaround: build the convolutions with `bias=False`, or fuse with `torch.fx.experimental.optimization.fuse`.
"""

import copy

import torch
from optimum.fx.optimization import FuseBatchNorm2dInConv2d
from torch import fx, nn

from fxbook import check_pass

model = nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1, eps=0.0)).eval()
model[0].weight.data.fill_(1.0)
model[0].bias.data.fill_(8.0)
model[1].running_var.fill_(4.0)
image = torch.zeros(1, 1, 1, 1)
module = fx.symbolic_trace(model)
fused = FuseBatchNorm2dInConv2d()(copy.deepcopy(module))
assert module(image).item() == 4 and fused(image).item() == 8
print(check_pass(FuseBatchNorm2dInConv2d(), module, (image,), keep=["values"]))
