"""`split_module` returns a module in training mode for one in eval mode.

Expected: the parts, and the module that calls them, are in the mode of the module that was split.
What happens: they are new modules, and a new module is in training mode. The layers in them keep their mode.
Workaround: call `split.eval()`.
"""

import torch
from torch import fx, nn
from torch.fx.passes.split_module import split_module

from fxbook import check_pass


def split(module: fx.GraphModule) -> fx.GraphModule:
    return split_module(module, module, lambda node: int(node.name == "_1"))


module = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()).eval())
assert not module.training
assert split(module).training and split(module).submod_0.training
print(check_pass(split, module, (torch.ones(1, 2),), keep=["modes"]))
