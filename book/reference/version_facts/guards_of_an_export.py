r"""The module of an exported program begins with a call that checks its inputs, `_guards_fn`.

Before {since} there was no such node: the graph had one node less, and hooks in front of `forward` checked the shapes.

Explains:
    torch\.export a graph of \d+ nodes.* => torch\.export a graph of \d+ nodes
    torch\.export .* \d+ nodes, right
    '_guards_fn'
"""

import torch

module = torch.export.export(torch.nn.ReLU(), (torch.ones(3),)).module()
print("yes" if "_guards_fn" in [str(node.target) for node in module.graph.nodes] else "no")
