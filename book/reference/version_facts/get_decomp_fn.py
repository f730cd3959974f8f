r"""`register_replacement` in Inductor's matcher accepts `get_decomp_fn`, which returns a decomposition table.

Before {since}, it does not and raises a `TypeError`. On those versions, pass `functools.partial(fwd_only,
get_decomp_fn=dict)` as the trace function.

Explains:
    register_replacement\(\) got an unexpected keyword argument 'get_decomp_fn'
"""

import inspect

from torch._inductor.pattern_matcher import register_replacement

print("yes" if "get_decomp_fn" in inspect.signature(register_replacement).parameters else "no")
