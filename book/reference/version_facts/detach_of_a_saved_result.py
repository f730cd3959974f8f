r"""AOTAutograd's forward graph saves a `detach` of a result that the backward graph needs.

Before {since}, it saved the result itself, and the backward graph had more calls to `detach`.

Explains:
    forward: t addmm relu (detach )?t_1
    \[mul, detach, add_1\]
    9 12 default_partition
"""

import torch
from functorch.compile import make_boxed_func
from torch import nn
from torch._functorch.aot_autograd import aot_module_simplified

counts = []


def keep(module, example_inputs):
    counts.append(sum("detach" in str(node.target) for node in module.graph.nodes))
    return make_boxed_func(module)


def backend(module, example_inputs):
    return aot_module_simplified(module, example_inputs, fw_compiler=keep, bw_compiler=keep)


torch.compile(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), backend=backend)(torch.ones(1, 2)).sum().backward()
print(f"forward {counts[0]}, backward {counts[1]}")
