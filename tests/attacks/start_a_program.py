"""Become another program: a shell, a debugger, one that runs as root, one from its own folder or from memory.

Ends: nothing worked
"""

import contextlib
import ctypes
import os
import platform
import tempfile

libc = ctypes.CDLL(None)
PROGRAMS = ("/bin/sh", "/usr/bin/env", "/usr/bin/su", "/usr/bin/mount", "/usr/bin/bwrap", "/lib64/ld-linux-x86-64.so.2")


def paired(*given):
    worked = []
    own = tempfile.gettempdir() + "/own"
    with open(own, "w") as file:
        file.write("#!/bin/sh\nexit 0\n")
    os.chmod(own, 0o755)
    for program in (*PROGRAMS, own):
        with contextlib.suppress(OSError):
            os.execve(program, [program], {})
            worked.append(program)
        with contextlib.suppress(OSError):
            os.execve(os.open(program, os.O_RDONLY), [program], {})
            worked.append(program)
    if libc.syscall(322 if platform.machine() == "x86_64" else 281, -100, b"/bin/sh", None, None, 0) != -1:
        worked.append("execveat")
    return worked
