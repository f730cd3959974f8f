r"""Two passes of Inductor's matcher may have the same pattern.

Before {since}, the patterns of all passes in a process were compared. The second registration raised an
`AssertionError` without a message, and there was no `skip_duplicates`.

Explains:
    register_replacement\(\) got an unexpected keyword argument 'skip_duplicates'
    12_patterns.* => AssertionError:$
"""

import torch
from torch._inductor.pattern_matcher import PatternMatcherPass, fwd_only, register_replacement

x = torch.ones(2)
try:
    for _ in range(2):
        register_replacement(lambda x: x.sin(), lambda x: x.cos(), [x], fwd_only, PatternMatcherPass())
    print("registered twice")
except AssertionError:
    print("AssertionError")
