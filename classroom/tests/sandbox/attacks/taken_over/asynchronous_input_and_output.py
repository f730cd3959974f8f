"""Ask the kernel for input and output that it does by itself, as of old: io_setup, io_submit, io_getevents.

Harm: a door to the kernel of which many exploits were made; the answer says which call was let in.
"""

import ctypes
import errno
import platform

CALLS = {"io_setup": 206, "io_destroy": 207, "io_getevents": 208, "io_submit": 209, "io_cancel": 210}
if platform.machine() != "x86_64":
    CALLS = {"io_setup": 0, "io_destroy": 1, "io_submit": 2, "io_cancel": 3, "io_getevents": 4}
libc = ctypes.CDLL(None, use_errno=True)


def paired(*given):
    context = ctypes.c_ulong(0)
    found = []
    for name, number in CALLS.items():
        ctypes.set_errno(0)
        if libc.syscall(number, 8, ctypes.byref(context), 0, 0, 0) != -1 or ctypes.get_errno() != errno.ENOSYS:
            found.append(f"{name}: {ctypes.get_errno()}")
    return found
