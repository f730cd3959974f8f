"""`CollapseConsecutiveConcats` takes a value that is concatenated with itself once.

Expected: `cat([y, y])`, where `y = cat([x, x + 1])`, becomes `cat([x, x + 1, x, x + 1])`.
What happens: it becomes `cat([x, x + 1])`.
Way round: leave the pass out for such a graph: look for a `cat` that has the same node twice in its list.
"""

import copy

import torch
from brevitas.graph.fixed_point import CollapseConsecutiveConcats
from torch import Tensor, fx

from fxbook import check_pass


def twice(x: Tensor) -> Tensor:
    y = torch.cat([x, x + 1], dim=0)
    return torch.cat([y, y], dim=0)


x = torch.zeros(1)
module = fx.symbolic_trace(twice)
collapsed = CollapseConsecutiveConcats().apply(copy.deepcopy(module))
assert module(x).tolist() == [0, 1, 0, 1] and collapsed(x).tolist() == [0, 1]
print(check_pass(CollapseConsecutiveConcats().apply, module, (x,), keep=["values"]))
