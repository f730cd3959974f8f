"""A call of `operator.setitem` is impure.

Before {since}, `Node.is_impure` did not know it: `eliminate_dead_code` removed a write whose result no node used.
Give `is_impure_node=` a function of your own there.
"""

import operator

from torch import fx

graph = fx.Graph()
x = graph.placeholder("x")
print(graph.call_function(operator.setitem, (x, 0, 1.0)).is_impure())
