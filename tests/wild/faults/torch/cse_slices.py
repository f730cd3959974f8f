"""`CSEPass` raises on a slice, before Python 3.12.

Expected: two equal slices become one.
What happens: the pass hashes the arguments of each call. A slice cannot be hashed before Python 3.12.
Workaround: use Python 3.12 or newer, or an exported graph, in which a slice is a call to `aten.slice`.
"""

import sys

import torch
from torch import fx
from torch.fx.passes.dialect.common.cse_pass import CSEPass

from fxbook import check_pass

module = fx.symbolic_trace(lambda x: x[0:1] + x[0:1])
try:
    CSEPass()(module)
except TypeError as error:
    assert str(error) == "unhashable type: 'slice'"
else:
    assert sys.version_info >= (3, 12)
print(check_pass(CSEPass(), module, (torch.ones(2),), keep=["values"]))
