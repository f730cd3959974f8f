"""A frozen list among the arguments of a node rejects a change with a `TypeError`.

Before {since}, it raised a `NotImplementedError` with the same words. `except (TypeError, NotImplementedError)` is
right on every version.

Explains:
    => NotImplementedError: 'immutable_(list|dict)' object does not support mutation
"""

import torch
from torch import fx

graph = fx.Graph()
x = graph.placeholder("x")
node = graph.call_function(torch.cat, ([x],))
try:
    node.args[0].append(x)
except Exception as error:
    print(type(error).__name__)
