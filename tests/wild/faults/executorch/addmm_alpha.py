"""`AddmmToLinearTransform` loses the factors of `addmm`.

Expected: `addmm(bias, x, w.T, alpha=2)` is not `linear(x, w, bias)`, and is left alone.
What happens: it becomes a `linear`, without `alpha` and `beta`.
Workaround: multiply by hand: `torch.addmm(bias, x, 2 * w.T)`.
"""

import torch
from executorch.backends.transforms.addmm_mm_to_linear import AddmmToLinearTransform
from executorch.exir import EdgeCompileConfig, to_edge
from torch import Tensor, fx, nn

from fxbook import check_pass


class Doubled(nn.Module):
    def forward(self, bias: Tensor, x: Tensor, w: Tensor) -> Tensor:
        return torch.addmm(bias, x, w.T, alpha=2).relu()


inputs = (torch.zeros(1), torch.ones(1, 1), torch.ones(1, 1))
unchecked = EdgeCompileConfig(_check_ir_validity=False)
edge = to_edge(torch.export.export(Doubled(), inputs), compile_config=unchecked)


def transform(_: fx.GraphModule) -> fx.GraphModule:
    return edge.transform([AddmmToLinearTransform()]).exported_program().module()


module: fx.GraphModule = edge.exported_program().module()
assert module(*inputs).item() == 2 and transform(module)(*inputs).item() == 1
print(check_pass(transform, module, inputs, keep=["values"]))
