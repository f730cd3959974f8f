"""Make a graph of millions of nodes.

Harm: the machine runs out of memory, and the next one gets nothing.
"""

from torch import fx


def paired(*given):
    graph = fx.Graph()
    node = graph.placeholder("x")
    while True:
        node = graph.call_method("relu", (node,))
