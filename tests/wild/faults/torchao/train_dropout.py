"""`move_exported_model_to_train` gives each dropout a probability of 0.5.

Expected: after a switch to eval mode and back, the model drops as much as before.
What happens: the call is replaced with one from a pattern, in which `p` is 0.5.
Workaround: set `p`, the second argument of each `aten.dropout`, again.
"""

import copy

import torch
from torch import fx, nn
from torchao.quantization.pt2e import move_exported_model_to_eval, move_exported_model_to_train

from fxbook import check_pass


def there_and_back(module: fx.GraphModule) -> fx.GraphModule:
    return move_exported_model_to_train(move_exported_model_to_eval(module))


torch.manual_seed(0)
x = torch.ones(1000)
module: fx.GraphModule = torch.export.export(nn.Sequential(nn.Dropout(0.1)), (x,)).module()
moved = there_and_back(copy.deepcopy(module))
assert (module(x) == 0).float().mean() < 0.2 < 0.4 < (moved(x) == 0).float().mean()
print(check_pass(there_and_back, module, (x,), keep=["values"]))
