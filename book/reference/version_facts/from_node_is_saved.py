"""A saved program keeps `from_node`, the history of each node.

Before {since}, it was lost when the program was saved. On those versions, read `node.meta.get("from_node", [])`.

Explains:
    save and load x x x x x
    => KeyError: 'from_node'
"""

import io

import torch

program = torch.export.export(torch.nn.ReLU(), (torch.ones(2),), strict=False).run_decompositions({})
file = io.BytesIO()
torch.export.save(program, file)
file.seek(0)
print("yes" if any("from_node" in node.meta for node in torch.export.load(file).graph.nodes) else "no")
