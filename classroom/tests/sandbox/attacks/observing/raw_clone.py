"""Start a process by the bare system calls: fork, vfork, clone, clone3, by the old numbers and those of x32.

Harm: a process is there; the answer says by which call.
"""

import ctypes
import platform

libc = ctypes.CDLL(None)
SIGCHLD = 17
NAMESPACES = (0x10000000, 0x20000000, 0x00020000, 0x40000000)


def paired(*given):
    worked = []
    intel = platform.machine() == "x86_64"
    calls = [(56 if intel else 220, flags | SIGCHLD, 0, 0, 0, 0) for flags in (0, 0x4000, *NAMESPACES)]
    arguments = (ctypes.c_uint64 * 11)(0, 0, 0, 0, SIGCHLD)
    calls.append((435, ctypes.byref(arguments), ctypes.sizeof(arguments)))
    if intel:
        calls += [(57,), (58,), (0x40000000 + 57,), (0x40000000 + 56, SIGCHLD, 0, 0, 0, 0)]
    for call in calls:
        if libc.syscall(*call) != -1:
            worked.append(str(call[:2]))
    return worked
