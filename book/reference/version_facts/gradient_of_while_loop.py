"""`torch.while_loop` has a gradient.

Before {since}, `backward` raised a `RuntimeError`.

Explains:
    Autograd not implemented for while_loop
"""

import torch
from torch._higher_order_ops.while_loop import while_loop

x = torch.ones(1, requires_grad=True)
try:
    [_, result] = while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x * 3), (torch.tensor(0), x))
    result.backward()
    print(x.grad.item())
except RuntimeError:
    print("RuntimeError")
