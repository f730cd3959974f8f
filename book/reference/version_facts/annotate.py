r"""Under `preserve_node_meta`, `torch.fx.traceback.annotate` writes into `meta["custom"]` of each recorded node.

Before {since}, this function does not exist. On those versions, write into `node.meta` after the graph is recorded.

Explains:
    module 'torch\.fx\.traceback' has no attribute 'annotate'
    when_it_breaks/13_retrace_and_meta.*=> KeyError: 'custom'
    when_it_breaks/01_node_creation.*: True True => True False
"""

from torch import fx
from torch.fx import traceback


def program(x):
    with traceback.annotate({"part": "head"}):
        return x + 1


if hasattr(traceback, "annotate"):
    with traceback.preserve_node_meta():
        graph = fx.symbolic_trace(program).graph
    print([node.meta.get("custom") for node in graph.nodes if node.op == "call_function"])
else:
    print("no such function")
