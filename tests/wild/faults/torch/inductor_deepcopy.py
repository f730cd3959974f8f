"""`constant_fold` of Inductor leaves a module that cannot be copied.

Expected: a folded constant is stored as a tensor without a history.
What happens: if gradients are recorded, the constant keeps its `grad_fn`, and `copy.deepcopy` rejects such a tensor.
Workaround: call the pass in `torch.no_grad()`.
"""

import copy

import torch
from torch import Tensor, fx, nn
from torch._inductor.constant_folding import constant_fold

from fxbook import check_pass


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(2))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.log_scale.exp()


inputs = (torch.ones(2),)
module: fx.GraphModule = torch.export.export(Scaled(), inputs).module()
folded = copy.deepcopy(module)
constant_fold(folded)
try:
    copy.deepcopy(folded)
except RuntimeError as error:
    assert str(error).startswith("Only Tensors created explicitly by the user")
else:
    raise SystemExit("it can be copied")
print(check_pass(constant_fold, module, inputs, keep=["state_kept"]))
