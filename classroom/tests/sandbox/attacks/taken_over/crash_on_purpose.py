"""Write to address 0, jump there, and abort with a lock held.

Harm: the process that forks ends, a dump is written, or a program of the system that collects crashes starts.
"""

import ctypes
import threading

lock = threading.Lock()
lock.acquire()


def paired(*given):
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
    ctypes.memset(0, 0, 1 << 30)
    ctypes.CFUNCTYPE(None)(16)()
