"""`preprocess_for_quantize` loses the `eps` of a batch norm after a `cat`.

Expected: a batch norm that is split and moved before a `cat`, one part for each branch, computes the same values.
What happens: `MoveSplitBatchNormBeforeCat` makes new layers for the parts, with the default `eps`.
Workaround: before the call, add `norm.eps - 1e-05` to `norm.running_var`, and set `norm.eps` to 1e-05.
"""

import copy

import torch
from brevitas.graph.quantize import preprocess_for_quantize
from torch import Tensor, fx, nn

from fxbook import check_pass


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Conv2d(1, 1, 1), nn.Conv2d(1, 1, 1)
        self.norm = nn.BatchNorm2d(2, eps=3.0)

    def forward(self, image: Tensor) -> Tensor:
        return self.norm(torch.cat([self.left(image), self.right(image)], dim=1))


def preprocess(module: nn.Module) -> fx.GraphModule:
    # brevitas traces to a graph module of its own.
    return fx.symbolic_trace(preprocess_for_quantize(module))


torch.manual_seed(0)
model, image = Branches().eval(), torch.ones(1, 1, 2, 2)
assert torch.allclose(preprocess(copy.deepcopy(model))(image), 2 * model(image), rtol=1e-3)
print(check_pass(preprocess, fx.symbolic_trace(model), (image,), keep=["values"]))
