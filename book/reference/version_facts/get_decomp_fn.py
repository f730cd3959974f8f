r"""`register_replacement` of Inductor's matcher takes `get_decomp_fn`, which returns a table of decompositions.

Before {since} it does not, and raises a `TypeError`. Give `functools.partial(fwd_only, get_decomp_fn=dict)` as the
trace function there.

Explains:
    register_replacement\(\) got an unexpected keyword argument 'get_decomp_fn'
"""

import inspect

from torch._inductor.pattern_matcher import register_replacement

print("yes" if "get_decomp_fn" in inspect.signature(register_replacement).parameters else "no")
