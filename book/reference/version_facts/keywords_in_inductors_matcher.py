"""Inductor's matcher ignores keywords that the pattern does not contain.

`torch.add(x, y, alpha=2)` matches `x + y`, and a replacement loses `alpha`. From {later} on, it does not match.
"""

import torch
from torch._inductor.pattern_matcher import PatternMatcherPass, fwd_only, register_replacement
from torch.fx.experimental.proxy_tensor import make_fx

x, y = torch.ones(2), torch.ones(2).clone()
rules = PatternMatcherPass()
register_replacement(lambda x, y: x + y, lambda x, y: x - y, [x, y], fwd_only, rules)
print("matches:", rules.apply(make_fx(lambda x, y: torch.add(x, y, alpha=2), tracing_mode="fake")(x, y)))
