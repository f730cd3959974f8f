"""`DecomposeGroupNorm` loses the strides of the result of a layer norm.

Expected: the result is contiguous, as the result of `native_layer_norm` is.
What happens: the operations that replace it keep the strides of the input, so a `view` of the result fails in torch.
Workaround: call `contiguous()` on the input of the layer norm.
"""

import copy

import torch
from tico.passes.decompose_group_norm import DecomposeGroupNorm
from torch import Tensor, nn
from torch.export import ExportedProgram

from fxbook import check_pass


class NormTransposed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(2)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x.T).view(-1)


inputs = (torch.ones(2, 3),)
program = torch.export.export(NormTransposed(), inputs).run_decompositions()


def decompose(program: ExportedProgram) -> ExportedProgram:
    DecomposeGroupNorm().call(program)
    return program


try:
    decompose(copy.deepcopy(program)).module()(*inputs)
except RuntimeError as error:
    assert str(error).startswith("view size is not compatible with input tensor's size and stride")
else:
    raise SystemExit("it runs")
print(check_pass(decompose, program, inputs, keep=["values"]))
