"""Explain a pause in a terminal: the first check of an exercise on large models takes seconds to load them."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

SECONDS = 2.0
TOLD = "Loading the models of this exercise …"


@contextlib.contextmanager
def told(after: float = SECONDS) -> Iterator[None]:
    """Print a message on a terminal if the body is still running after ``after`` seconds.

    A notebook shows by itself that a cell is running, and this message would make its output depend on the machine.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(after, print, (TOLD,), {"file": sys.stderr, "flush": True})
    timer.start()
    try:
        yield
    finally:
        # No thread may remain when an answer runs in a child.
        timer.cancel()
        timer.join()
