"""`LayerwiseActivationRotation` breaks `nn.MultiheadAttention`.

Expected: the linear layer inside an attention is rotated, or left alone.
What happens: the layer is wrapped in a `RotatedModule`. Attention does not call this layer, but reads its `weight`,
which the wrapper does not have.
Workaround: leave the layer out, with `blacklist_layer=["attention.out_proj"]`.
"""

import copy

import torch
from brevitas.graph.equalize import LayerwiseActivationRotation
from torch import Tensor, fx, nn

from fxbook import check_pass


class SelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x)[0]


def rotate(module: fx.GraphModule) -> fx.GraphModule:
    return LayerwiseActivationRotation().apply(module)


module, inputs = fx.symbolic_trace(SelfAttention()), (torch.ones(3, 4),)
rotated = rotate(copy.deepcopy(module))
try:
    rotated(*inputs)
except AttributeError as error:
    assert str(error) == "'RotatedModule' object has no attribute 'weight'"
else:
    raise SystemExit("it runs")
print(check_pass(rotate, module, inputs, keep=["values"]))
