"""`DecomposeSliceScatter` takes a start that counts from the end for one that counts from the front.

Expected: `x[-2:] = y` writes into the last two elements.
What happens: the replacement concatenates all of `y` and all of `x`: the result is longer than `x`.
Way round: write `x[len(x) - 2 :] = y`.
"""

import copy

import torch
from tico.passes.decompose_slice_scatter import DecomposeSliceScatter
from torch import Tensor, fx, nn

from fxbook import check_pass


class WriteLast(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        x = x.clone()
        x[-2:] = y
        return x


inputs = (torch.zeros(4), torch.ones(2))
program = torch.export.export(WriteLast(), inputs).run_decompositions()


def decompose(_: fx.GraphModule) -> fx.GraphModule:
    changed = copy.deepcopy(program)
    DecomposeSliceScatter().call(changed)
    return changed.module()


module: fx.GraphModule = program.module()
assert module(*inputs).tolist() == [0, 0, 1, 1] and decompose(module)(*inputs).tolist() == [1, 1, 0, 0, 0, 0]
print(check_pass(decompose, module, inputs, keep=["values"]))
