r"""`replace_pattern` with a pattern that does not use an input raises a `KeyError`.

Before {since} it was an `AssertionError` with the words `pattern with dead code`. Leave the input out.

Explains:
    KeyError: y => AssertionError: SubgraphMatcher cannot be initialized
"""

import torch
from torch import fx

traced = fx.symbolic_trace(lambda x: torch.relu(x))
try:
    fx.replace_pattern(traced, lambda x, y: torch.relu(x), lambda x, y: torch.tanh(x))
except Exception as error:
    print(type(error).__name__)
