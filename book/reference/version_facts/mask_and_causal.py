"""Fused attention on a CPU accepts a mask and `is_causal` together.

From {later} on, it rejects them, as the math kernel does on every version: `Explicit attn_mask should not be set when
is_causal=True`. Put the causal part into the mask.
"""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

x, mask = torch.ones(1, 2, 4, 8), torch.ones(4, 4, dtype=torch.bool)
with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
    try:
        torch.nn.functional.scaled_dot_product_attention(x, x, x, mask, is_causal=True)
        print("taken")
    except RuntimeError:
        print("RuntimeError")
