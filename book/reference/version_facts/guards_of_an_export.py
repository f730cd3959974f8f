r"""The module of an exported program begins with a call that checks its inputs, `_guards_fn`.

Before {since}, there was no such node, so the graph had one node fewer. Hooks that ran before `forward` checked the
shapes.

Explains:
    torch\.export (.*)a graph of 4 nodes(.*) => torch\.export \1a graph of 3 nodes\2$
    torch\.export (.*)a graph of 5 nodes(.*) => torch\.export \1a graph of 4 nodes\2$
    torch\.export (.*)a graph of 6 nodes(.*) => torch\.export \1a graph of 5 nodes\2$
    torch\.export (.*)a graph of 7 nodes(.*) => torch\.export \1a graph of 6 nodes\2$
    torch\.export (.*)a graph of 8 nodes(.*) => torch\.export \1a graph of 7 nodes\2$
    torch\.export (.*)a graph of 9 nodes(.*) => torch\.export \1a graph of 8 nodes\2$
    torch\.export (.*)a graph of 15 nodes(.*) => torch\.export \1a graph of 14 nodes\2$
    '_guards_fn'
    _guards_fn = self\._guards_fn
    when_it_breaks/02_insertion_points.*=> RuntimeError: mat1 and mat2 shapes
"""

import torch

module = torch.export.export(torch.nn.ReLU(), (torch.ones(3),)).module()
print("yes" if "_guards_fn" in [str(node.target) for node in module.graph.nodes] else "no")
