r"""Tensors have no named dimensions.

Before {since}, `torch.sum` took names of dimensions too, so `get_signature_for_torch_op` lists two signatures more, and
a message that lists them is longer.

Explains:
    \['input', 'dim', 'keepdim', 'dtype', 'out'\]
    06_kwargs\S*: .*=> …$
"""

import torch
from torch.fx.operator_schemas import get_signature_for_torch_op

print("signatures:", len(get_signature_for_torch_op(torch.sum)))
