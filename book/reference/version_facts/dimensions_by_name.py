r"""`torch.sum` takes dimensions by number alone.

Before {since} it took names of dimensions too: `get_signature_for_torch_op` gave more signatures, and a message that
lists them was longer.

Explains:
    \['input', 'dim', 'keepdim', 'dtype', 'out'\]
    06_kwargs\S*: .*=> …$
"""

import torch
from torch.fx.operator_schemas import get_signature_for_torch_op

print(len(get_signature_for_torch_op(torch.sum)), "signatures")
