"""Ignore every signal, those of limits too, and never end.

Harm: it runs on, and the next one waits.
"""

import contextlib
import signal

for number in range(1, 65):
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))


def paired(*given):
    signal.setitimer(signal.ITIMER_REAL, 0)
    while True:
        pass
