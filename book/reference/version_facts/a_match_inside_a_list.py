"""`replace_pattern` leaves an invalid graph if one match is inside a list that is an argument of another match.

A pattern parameter that stands for the list still refers to the old node in it. From {later} on, the node inside the
list is replaced too. On older versions, replace one match and then match again.
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
