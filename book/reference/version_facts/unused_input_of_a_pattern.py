r"""`replace_pattern` raises a `KeyError` if the pattern leaves one of its inputs unused.

Before {since}, it raised an `AssertionError` with the words `pattern with dead code`. Remove the unused input from the
pattern.

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
