"""`torch.utils.dlpack.to_dlpack` rejects a Proxy with a `TypeError`.

Before {since}, it raised a `RuntimeError`: `data must be a Tensor`.

Explains:
    => (symbolic_trace )?RuntimeError: data must be a Tensor
"""

from torch import fx
from torch.utils.dlpack import to_dlpack

try:
    fx.symbolic_trace(lambda x: to_dlpack(x))
except Exception as error:
    print(type(error).__name__)
