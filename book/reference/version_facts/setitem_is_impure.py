"""A call of `operator.setitem` is impure.

Before {since}, `Node.is_impure` returned `False` for it, so `eliminate_dead_code` removed a write whose result no node
used. On those versions, pass your own function as `is_impure_node=`; it has to ask `node.is_impure()` too.
"""

import operator

from torch import fx

graph = fx.Graph()
x = graph.placeholder("x")
print(graph.call_function(operator.setitem, (x, 0, 1.0)).is_impure())
