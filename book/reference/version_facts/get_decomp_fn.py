r"""`register_replacement` of Inductor's matcher takes `get_decomp_fn`, a table of decompositions.

Before {since} it does not, and raises a `TypeError`.

Explains:
    register_replacement\(\) got an unexpected keyword argument 'get_decomp_fn'
"""

import inspect

from torch._inductor.pattern_matcher import register_replacement

print("get_decomp_fn" in inspect.signature(register_replacement).parameters)
