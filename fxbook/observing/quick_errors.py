"""Keep errors in a graph fast: torch.fx imports its compiler, which is hundreds of modules, to explain or log one.

The import takes about a second. Skipping it loses a message on stderr and a log entry.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from unittest import mock

from torch.fx import graph_module, interpreter


@contextlib.contextmanager
def quick_errors() -> Iterator[None]:
    """In the body, make a failing GraphModule or Interpreter raise at once."""
    places = (
        (getattr(graph_module, "_WrappedCall", None), "_generate_error_message", staticmethod(lambda _: "")),
        (interpreter, "trace_structured", lambda *_, **__: None),
    )
    with contextlib.ExitStack() as stack:
        for owner, name, replacement in places:
            # Both are private: in a version of torch without them, errors are as slow as usual.
            if hasattr(owner, name):
                stack.enter_context(mock.patch.object(owner, name, replacement))
        yield
