"""Take memory that no limit of a process counts: files in memory, shared memory, queues.

Harm: memory is gone when the process is; the answer says which kind it got.
"""

import ctypes
import mmap
import os

libc = ctypes.CDLL(None)
NAME = int("@TRACE_KEY@")


def paired(*given):
    worked = []
    try:
        os.memfd_create("hoard")
        worked.append("memfd")
    except OSError:
        pass
    if libc.shmget(NAME, 1 << 20, 0o1600) != -1:
        worked.append("shmget")
    if libc.msgget(NAME, 0o1600) != -1:
        worked.append("msgget")
    if libc.mq_open(b"/by-an-attack", os.O_CREAT | os.O_RDWR, 0o600, None) != -1:
        worked.append("mq_open")
    try:
        mmap.mmap(-1, 8 << 30)
        worked.append("mmap")
    except OSError:
        pass
    return worked
