r"""`torch.fx._graph_pickler` pickles a graph with FakeTensors in `meta`.

It is private, and it does not exist before {since}.

Explains:
    No module named 'torch\.fx\._graph_pickler'
"""

import importlib.util

print(importlib.util.find_spec("torch.fx._graph_pickler") is not None)
