"""`FuseBatchNormPass` of the XNNPACK backend folds two batch norms into one weight.

Expected: a weight shared by two convolutions, each followed by a batch norm, is left alone or split into two.
What happens: both norms are folded into the same weight.
Workaround: give each batch norm a convolution of its own (`copy.deepcopy`) before you export.
"""

import torch
from executorch.backends.xnnpack._passes.fuse_batch_norm import FuseBatchNormPass
from executorch.exir import to_edge
from torch import Tensor, fx, nn

from fxbook import check_pass


class SharedConvolution(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 1)
        self.first, self.second = nn.BatchNorm2d(1), nn.BatchNorm2d(1)
        self.first.running_var.fill_(4.0)

    def forward(self, image: Tensor) -> Tensor:
        return self.first(self.conv(image)) + self.second(self.conv(image + 1))


torch.manual_seed(0)
inputs = (torch.ones(1, 1, 2, 2),)
edge = to_edge(torch.export.export(SharedConvolution().eval(), inputs))


def transform(_: fx.GraphModule) -> fx.GraphModule:
    return edge.transform([FuseBatchNormPass(edge.exported_program())]).exported_program().module()


module: fx.GraphModule = edge.exported_program().module()
assert not torch.allclose(transform(module)(*inputs), module(*inputs))
print(check_pass(transform, module, inputs, keep=["values"]))
