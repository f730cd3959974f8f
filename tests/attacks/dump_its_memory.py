"""Have the system keep a picture of this process when it crashes, in a file or by a program that runs outside.

Ends: crash
"""

import contextlib
import ctypes
import resource

with contextlib.suppress(OSError, ValueError):
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
libc = ctypes.CDLL(None)
if libc.prctl(4, 1, 0, 0, 0) == 0 or libc.prctl(3, 0, 0, 0, 0) != 0:
    raise SystemExit("it could be dumped")
ctypes.memset(0, 1, 1)
