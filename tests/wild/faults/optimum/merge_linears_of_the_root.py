"""`MergeLinears` breaks on layers of the model itself.

Expected: two linear layers that read the same value become one, wherever they are.
What happens: for `"query"`, a name without a dot, the pass mistakes the layer itself for the module that holds it. It
puts the merged layer into this layer, which it then deletes.
Workaround: put the layers into a module of their own.
"""

import copy

import torch
from optimum.fx.optimization import MergeLinears
from torch import Tensor, fx, nn

from fxbook import check_pass


class Scores(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.query(x) @ self.key(x).T


module = fx.symbolic_trace(Scores())
try:
    MergeLinears()(copy.deepcopy(module))
except AttributeError as error:
    assert str(error).endswith("has no attribute `query`")
else:
    raise SystemExit("it works")
print(check_pass(MergeLinears(), module, (torch.ones(1, 2),), keep=["values"]))
