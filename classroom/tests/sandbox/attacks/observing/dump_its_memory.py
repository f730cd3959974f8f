"""Have the system keep a picture of this process when it crashes, in a file or by a program that runs outside.

Harm: the picture lies somewhere; or it could have been taken, which the answer says.
"""

import contextlib
import ctypes
import resource

libc = ctypes.CDLL(None)


def paired(*given):
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if libc.prctl(4, 1, 0, 0, 0) == 0 or libc.prctl(3, 0, 0, 0, 0) > 0:
        return ["it could be dumped"]
    return ctypes.memset(0, 1, 1)
