r"""`torch.fx.traceback.annotate` writes into `meta["custom"]` of each node that is recorded inside.

Before {since} there is no such function. Write `node.meta` after the graph is recorded.

Explains:
    module 'torch\.fx\.traceback' has no attribute 'annotate'
    when_it_breaks/13_retrace_and_meta.*=> KeyError: 'custom'
"""

from torch.fx import traceback

print(hasattr(traceback, "annotate"))
