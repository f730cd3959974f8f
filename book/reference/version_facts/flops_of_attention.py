"""`FlopCounterMode` counts 0 for fused attention on a CPU.

From {later} on, it has a formula for the fused CPU kernel.
"""

import torch
from torch.utils.flop_counter import FlopCounterMode

x = torch.ones(1, 2, 8, 4)
with FlopCounterMode(display=False) as counter:
    torch.nn.functional.scaled_dot_product_attention(x, x, x)
print(counter.get_total_flops())
