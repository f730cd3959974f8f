"""Debug other processes, read and write their memory, take their descriptors.

Harm: another process does as it is told; the answer says which.
"""

import ctypes
import os
import platform

libc = ctypes.CDLL(None)
INTEL = platform.machine() == "x86_64"


def paired(*given):
    worked = []
    for process in (1, 2, 3, os.getppid()):
        for request in (0, 16, 0x4206):
            if libc.ptrace(request, process, 0, 0) != -1:
                worked.append(f"ptrace {request} {process}")
        for call in (310 if INTEL else 270, 311 if INTEL else 271, 312 if INTEL else 272, 434, 438, 424, 440):
            if libc.syscall(call, process, 0, 0, 0, 0, 0) != -1:
                worked.append(f"{call} {process}")
    return worked
