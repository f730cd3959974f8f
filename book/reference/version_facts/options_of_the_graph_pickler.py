r"""`torch.fx._graph_pickler` has `Options`, which say which operators it may pickle.

They are private, and they do not exist before {since}.

Explains:
    cannot import name 'Options' from 'torch\.fx\._graph_pickler'
"""

try:
    from torch.fx import _graph_pickler

    print("yes" if hasattr(_graph_pickler, "Options") else "no")
except ImportError:
    print("no")
