"""Stop, so that nobody gets an answer: by signals, and by waiting for itself.

Harm: it stays for ever, and the next one waits.
"""

import os
import signal
import threading


def paired(*given):
    for number in (signal.SIGSTOP, signal.SIGTSTP):
        os.kill(os.getpid(), number)
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
