"""`optimize_einsums_full` loses a factor if a value is multiplied by itself.

Expected: with `y = x @ w / 2`, the product of `y` and `y` has the factor 1/4.
What happens: `fuse_scalars` moves the factor after the product, but applies it only once: 1/2.
Workaround: call `optimize_einsums`, which moves no factors, in place of `optimize_einsums_full`.
"""

import torch
from opt_einsum_fx import optimize_einsums_full
from torch import Tensor, fx

from fxbook import check_pass


def squared_norms(x: Tensor, w: Tensor) -> Tensor:
    y = torch.einsum("ij,jk->ik", x, w) / 2
    return torch.einsum("ik,ik->i", y, y)


inputs = (torch.ones(2, 2), torch.ones(2, 2))


def optimize(module: fx.GraphModule) -> fx.GraphModule:
    return optimize_einsums_full(module, inputs)


module = fx.symbolic_trace(squared_norms)
assert module(*inputs).tolist() == [2, 2] and optimize(module)(*inputs).tolist() == [4, 4]
print(check_pass(optimize, module, inputs, keep=["values"]))
