"""`CollapseConsecutiveConcats` returns a module whose code is older than its graph.

Expected: the code of a module that a pass returns matches its graph.
What happens: the pass first rewrites each `cat` to take its arguments by name. If it then collapses nothing, it does
not recompile.
Workaround: call `module.recompile()`.
"""

import copy

import torch
from brevitas.graph.fixed_point import CollapseConsecutiveConcats
from torch import fx

from fxbook import check_pass


def collapse(module: fx.GraphModule) -> fx.GraphModule:
    return CollapseConsecutiveConcats().apply(module)


module = fx.symbolic_trace(lambda x: torch.cat([x, x], dim=0))
collapsed = collapse(copy.deepcopy(module))
assert "torch.cat([x, x], dim = 0)" in collapsed.code
assert "torch.cat(dim = 0, tensors = [x, x])" in collapsed.graph.python_code("self").src
print(check_pass(collapse, module, (torch.ones(1),), keep=["code"]))
