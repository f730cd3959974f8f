"""Read single keys from a terminal, without Enter."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

ReadKey = Callable[[float], str]


@contextlib.contextmanager
def keys() -> Iterator[ReadKey]:
    """Yield a function that waits some seconds for a key and returns it, or ``""``.

    If the input is not a terminal, it only waits.
    """
    if not sys.stdin.isatty():
        yield _wait
    elif sys.platform == "win32":
        yield _windows_key
    else:
        import termios
        import tty

        before = termios.tcgetattr(sys.stdin)
        try:
            tty.setcbreak(sys.stdin)
            yield _posix_key
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _wait(seconds: float) -> str:
    time.sleep(seconds)
    return ""


def _posix_key(seconds: float) -> str:
    import select

    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return sys.stdin.read(1).lower() if ready else ""


def _windows_key(seconds: float) -> str:
    import msvcrt

    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if msvcrt.kbhit():
            return msvcrt.getwch().lower()
        time.sleep(0.05)
    return ""
