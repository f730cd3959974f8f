"""`RemoveNop` removes the copy that a later `view` needs.

Expected: `contiguous()` stays if its result is viewed.
What happens: the copy is removed, and torch cannot view the value from which it was made. According to tico's source,
its file format does not record strides, so a compiled model may still be right; but the program no longer runs in
torch.
Workaround: to compare with torch, keep a copy of the program as it was before this pass.
"""

import copy

import torch
from tico.passes.remove_nop import RemoveNop
from torch import Tensor, nn
from torch.export import ExportedProgram

from fxbook import check_pass


class Transposed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.T.contiguous().view(-1)


inputs = (torch.ones(2, 3),)
program = torch.export.export(Transposed(), inputs).run_decompositions()


def remove(program: ExportedProgram) -> ExportedProgram:
    RemoveNop().call(program)
    return program


try:
    remove(copy.deepcopy(program)).module()(*inputs)
except RuntimeError as error:
    assert str(error).startswith("view size is not compatible with input tensor's size and stride")
else:
    raise SystemExit("it runs")
print(check_pass(remove, program, inputs, keep=["values"]))
