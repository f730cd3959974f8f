r"""Tensors have no named dimensions.

Before {since}, `torch.sum` also accepted dimension names, so `get_signature_for_torch_op` lists two more signatures,
and a message that lists the signatures is longer.

Explains:
    \['input', 'dim', 'keepdim', 'dtype', 'out'\]
    06_kwargs\S*: .*=> …$
"""

import torch
from torch.fx.operator_schemas import get_signature_for_torch_op

print("signatures:", len(get_signature_for_torch_op(torch.sum)))
