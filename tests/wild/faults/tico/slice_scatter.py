"""`DecomposeSliceScatter` mistakes a start that counts from the end for one that counts from the front.

Expected: `x[-2:] = y` writes into the last two elements.
What happens: the replacement concatenates all of `y` and all of `x`: the result is longer than `x`.
Workaround: write `x[len(x) - 2 :] = y`.
"""

import copy

import torch
from tico.passes.decompose_slice_scatter import DecomposeSliceScatter
from torch import Tensor, nn
from torch.export import ExportedProgram

from fxbook import check_pass


class WriteLast(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        x = x.clone()
        x[-2:] = y
        return x


inputs = (torch.zeros(4), torch.ones(2))
program = torch.export.export(WriteLast(), inputs).run_decompositions()


def decompose(program: ExportedProgram) -> ExportedProgram:
    DecomposeSliceScatter().call(program)
    return program


assert program.module()(*inputs).tolist() == [0, 0, 1, 1]
assert decompose(copy.deepcopy(program)).module()(*inputs).tolist() == [1, 1, 0, 0, 0, 0]
print(check_pass(decompose, program, inputs, keep=["values"]))
