"""`fuse` folds two batch norms into one convolution, and `fuse_fx` folds one of them.

Expected: a convolution that is called twice, with a batch norm after each call, is left alone or split into two.
What happens: both calls still use one weight. `fuse` has folded both norms into it, and `fuse_fx` only the last one.
Workaround: give each batch norm a convolution of its own (`copy.deepcopy`) before you fuse.
Known as: pytorch/pytorch#104593
"""

import torch
from torch import Tensor, nn
from torch.ao.quantization.quantize_fx import fuse_fx
from torch.fx import symbolic_trace
from torch.fx.experimental.optimization import fuse

from fxbook import check_pass


class Heads(nn.Module):
    """As in some detectors: one convolution for images of all sizes, and a batch norm for each size."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 1)
        self.large, self.small = nn.BatchNorm2d(1), nn.BatchNorm2d(1)
        self.large.running_var.fill_(4.0)

    def forward(self, image: Tensor, half: Tensor) -> tuple[Tensor, Tensor]:
        return self.large(self.conv(image)), self.small(self.conv(half))


torch.manual_seed(0)
model = Heads().eval()
inputs = (torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2))
large, small = model(*inputs)
assert torch.allclose(fuse(model)(*inputs)[1], small / 2)
assert torch.allclose(fuse_fx(model)(*inputs)[0], large * 2, rtol=1e-3)
print(check_pass(fuse, symbolic_trace(model), inputs, keep=["values"]))
