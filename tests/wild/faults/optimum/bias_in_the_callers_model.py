"""`FuseBiasInLinear` changes the model that was traced.

Expected: the graph module that the pass gets changes; the model that it was traced from does not.
What happens: a layer gets a wider weight and loses its bias. The model shares this layer with the graph module, so it
no longer runs.
Workaround: trace `copy.deepcopy(model)`.
"""

import torch
from optimum.fx.optimization import FuseBiasInLinear
from torch import fx, nn

from fxbook import check_pass

model = nn.Sequential(nn.Linear(2, 2))
FuseBiasInLinear()(fx.symbolic_trace(model))
assert model[0].weight.shape == (2, 3) and model[0].bias is None
try:
    model(torch.ones(1, 2))
except RuntimeError as error:
    assert str(error) == "mat1 and mat2 shapes cannot be multiplied (1x2 and 3x2)"
else:
    raise SystemExit("it runs")

module = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
print(check_pass(FuseBiasInLinear(), module, (torch.ones(1, 2),), keep=["purity"]))
