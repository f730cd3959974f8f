r"""An exported `layer_norm` has all its arguments, including `cudnn_enable`.

Before {since}, the last argument was left out.

Explains:
    layer_norm\.default\(.*, False\)
"""

import torch

graph = torch.export.export(torch.nn.LayerNorm(2), (torch.ones(1, 2),), strict=False).graph
[norm] = [node for node in graph.nodes if "layer_norm" in str(node.target)]
print("arguments:", len(norm.args))
