"""Make a graph of millions of nodes.

Ends: time or MemoryError or TimeUp
"""

from torch import fx


def paired(*given):
    graph = fx.Graph()
    node = graph.placeholder("x")
    while True:
        node = graph.call_method("relu", (node,))
