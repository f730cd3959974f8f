"""In a joint graph from AOTAutograd, `meta["partitioner_tag"]` is `is_forward` or `is_backward` for each input.

On older versions, an input has no tag, or the tangents have `is_forward`: see the table.

Explains:
    primals_1 is_forward => primals_1 None
    tangents_1 is_backward => tangents_1 is_forward
"""

import torch
from functorch.compile import default_partition, make_boxed_func
from torch._dynamo.backends.common import aot_autograd

tags = []


def look(joint, inputs, **settings):
    tags.extend(node.meta.get("partitioner_tag") for node in joint.graph.nodes if node.op == "placeholder")
    return default_partition(joint, inputs, **settings)


def boxed(module, inputs):
    return make_boxed_func(module)


backend = aot_autograd(fw_compiler=boxed, bw_compiler=boxed, partition_fn=look)
torch.compile(torch.sin, backend=backend)(torch.ones(2, requires_grad=True))
print(*tags)
