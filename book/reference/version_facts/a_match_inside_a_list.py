"""`replace_pattern` leaves an invalid graph where one match lies in the list of another.

A parameter that binds a list keeps the old node of the list. From {later} on the node inside the list is replaced too.
On older versions, replace one match and match again.
"""

import torch
from torch import fx

traced = fx.symbolic_trace(lambda x: torch.cat([torch.cat([x, x]), x]))
try:
    fx.replace_pattern(traced, lambda t: torch.cat(t), lambda t: torch.concat(t))
    traced.graph.lint()
    print("valid")
except Exception:
    print("invalid")
