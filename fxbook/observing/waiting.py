"""Say in a terminal why nothing happens: the first check of an exercise on large models loads them, for seconds."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

SECONDS = 2.0
TOLD = "Loading the models of this exercise …"


@contextlib.contextmanager
def told(after: float = SECONDS) -> Iterator[None]:
    """Say so on a terminal once the body has run for so long.

    A notebook shows by itself that a cell runs, and what it prints would differ from one machine to the next.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(after, print, (TOLD,), {"file": sys.stderr, "flush": True})
    timer.start()
    try:
        yield
    finally:
        # No thread is left when an answer is run in a child.
        timer.cancel()
        timer.join()
