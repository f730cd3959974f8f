"""Let an error in a graph stay an error: torch.fx imports its compiler, hundreds of modules, to explain or log one.

That takes about a second, which is all the time that a check has. Left out here are a text on stderr and a log entry.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from unittest import mock

from torch.fx import graph_module, interpreter


@contextlib.contextmanager
def quick_errors() -> Iterator[None]:
    """While the body runs, a failing GraphModule and a failing Interpreter raise at once."""
    places = (
        (getattr(graph_module, "_WrappedCall", None), "_generate_error_message", staticmethod(lambda _: "")),
        (interpreter, "trace_structured", lambda *_, **__: None),
    )
    with contextlib.ExitStack() as stack:
        for owner, name, replacement in places:
            # Both are private: where a version of torch has no such name, its errors are as slow as they are.
            if hasattr(owner, name):
                stack.enter_context(mock.patch.object(owner, name, replacement))
        yield
