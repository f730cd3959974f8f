"""`normalized_arguments` works for `torch.cat`.

Before {since}, it raised a `RuntimeError`: the schema match was ambiguous, because two schemas of `cat` differ only in
the type of `dim`.
"""

import torch
from torch import fx

traced = fx.symbolic_trace(lambda x: torch.cat([x, x], 1))
[call] = [node for node in traced.graph.nodes if node.op == "call_function"]
try:
    print(call.normalized_arguments(traced).args)
except RuntimeError:
    print("RuntimeError")
