"""`FuseBatchNormWithConvPass` scales a transposed convolution along the wrong dimension.

Expected: the weight of a transposed convolution is `[in, out, ...]`, and is scaled along `out`.
What happens: the weight is scaled along its first dimension, which is `out` only in an ordinary convolution. If both
dimensions have the same size, no error is raised.
Workaround: leave the pass out for a model with transposed convolutions, or fuse before the export, with
`torch.nn.utils.fusion.fuse_conv_bn_eval`.
"""

import torch
from executorch.backends.transforms.fuse_batch_norm_with_conv import FuseBatchNormWithConvPass
from executorch.exir import to_edge
from torch import fx, nn

from fxbook import check_pass

model = nn.Sequential(nn.ConvTranspose2d(2, 2, 1, bias=False), nn.BatchNorm2d(2), nn.ReLU()).eval()
model[0].weight.data.fill_(1.0)
model[1].running_var.copy_(torch.tensor([1.0, 4.0]))
inputs = (torch.tensor([1.0, 2.0]).reshape(1, 2, 1, 1),)
edge = to_edge(torch.export.export(model, inputs))


def transform(_: fx.GraphModule) -> fx.GraphModule:
    return edge.transform([FuseBatchNormWithConvPass(edge.exported_program())]).exported_program().module()


module: fx.GraphModule = edge.exported_program().module()
assert not torch.allclose(transform(module)(*inputs), module(*inputs))
print(check_pass(transform, module, inputs, keep=["values"]))
