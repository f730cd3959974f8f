"""`remove_dropout` raises on a dropout whose input is passed by name.

Expected: `dropout(input=x)` becomes `x`, as `dropout(x)` does.
What happens: the pass expects one argument by position, and asserts that there is one.
Workaround: pass the input by position, `dropout(x)`.
"""

import torch
from torch import Tensor, fx, nn
from torch.fx.experimental.optimization import remove_dropout

from fxbook import check_pass


class ByName(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dropout = nn.Dropout()

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(input=x)


model = ByName().eval()
try:
    remove_dropout(model)
except AssertionError as error:
    assert str(error).startswith("Expected 1 arg for Dropout, got 0")
else:
    raise SystemExit("it is gone")
print(check_pass(remove_dropout, fx.symbolic_trace(model), (torch.ones(2),), keep=["values"]))
