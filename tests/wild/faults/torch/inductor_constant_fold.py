"""`constant_fold` of Inductor mistakes a buffer that the graph writes to for a constant.

Expected: values computed from such a buffer are computed again in each run.
What happens: they are computed once, while the pass runs, and so is the write: the pass changes the buffer, and the
resulting module does not.
Workaround: fold only if no node writes to a buffer.
"""

import copy

import torch
from torch import Tensor, fx, nn
from torch._inductor.constant_folding import constant_fold

from fxbook import check_pass


class Warmup(nn.Module):
    """A scale that grows with each run."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("runs", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        scale = self.runs / 10
        self.runs.add_(1)
        return x * scale


inputs = (torch.ones(1),)
module: fx.GraphModule = torch.export.export(Warmup(), inputs).module()
folded = copy.deepcopy(module)
constant_fold(folded)
assert folded(*inputs).item() == folded(*inputs).item() == 0
assert module(*inputs).item() == 0 < module(*inputs).item()
print(check_pass(constant_fold, module, inputs, keep=["purity", "state_kept"]))
