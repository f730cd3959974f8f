r"""Dead-code elimination keeps calls to `torch.rand_like`, `torch.bernoulli`, `torch.normal` and similar functions.

Before {since}, it removed a dead `rand_like`, and the calls after it drew other numbers. On every version,
`eliminate_dead_code(is_impure_node=…)` with your own function, which also asks `node.is_impure()`, keeps the call.
Dropouts, `torch.rrelu`, `torch.binomial`, `gumbel_softmax`, and methods such as `uniform_` are always removed, unless
they are ATen operators.

Explains:
    'rand_like', 'output'\] => \['x', 'mul', 'mul__scalar', 'output'\]
    03-clean-up .*: not yet
"""

import torch
from torch import fx

graph = fx.Graph()
x = graph.placeholder("x")
graph.call_function(torch.rand_like, (x,))
graph.output(x)
graph.eliminate_dead_code()
print("kept" if graph.find_nodes(op="call_function", target=torch.rand_like) else "removed")
