"""Become another program: a shell, what calls a shell, Python, a file of its own; by a path and by a descriptor.

Harm: another program runs. It tells of itself through the pipe that it takes over: the answer says which it is.
"""

import contextlib
import ctypes
import json
import os
import platform
import re
import signal
import stat
import sys
import tempfile

libc = ctypes.CDLL(None)
frame, mark = sys._getframe(), b""
while frame:
    for value in list(frame.f_locals.values()):
        if isinstance(value, bytes) and re.fullmatch(rb"[0-9a-f]{32}", value):
            mark = value
    frame = frame.f_back

# The shell does it by itself: a process of its own might be refused.
TELL = 'for number in 3 4 5 6 7 8 9; do printf %s "$FRAME" >&$number; done'
OWN = f"{tempfile.gettempdir()}/own"
PROGRAMS = (
    ("/bin/sh", "-c", TELL),
    ("/usr/bin/env", "sh", "-c", TELL),
    ("/usr/bin/bwrap", "--bind", "/", "/", "sh", "-c", TELL),
    ("/lib64/ld-linux-x86-64.so.2", "/bin/sh", "-c", TELL),
    (sys.executable, "-c", f"import os; os.execv('/bin/sh', ['sh', '-c', {TELL!r}])"),
    (OWN,),
)


def _pipes():
    found = []
    for number in range(3, 4096):
        with contextlib.suppress(OSError):
            found += [number] * stat.S_ISFIFO(os.fstat(number).st_mode)
    return found[:7]  # A shell can name those from 3 to 9.


def _surroundings(name):
    claim = json.dumps({"failed": [], "observation": {"cases": [{"value": [f"{name} runs"]}]}})
    return {"PATH": "/usr/bin:/bin", "FRAME": f"{mark.decode()}{len(claim):016x}{claim}"}


def paired(*given):
    with open(OWN, "w") as file:
        file.write(f"#!/bin/sh\n{TELL}\n")
    os.chmod(OWN, 0o755)
    for number, pipe in enumerate(_pipes(), 3):
        os.dup2(pipe, number, inheritable=True)
    # The clock of the answer goes on in another program, and its alarm would end it.
    with contextlib.suppress(OSError):
        signal.setitimer(signal.ITIMER_REAL, 0)
    for program in PROGRAMS:
        with contextlib.suppress(OSError):
            os.execve(program[0], program, _surroundings(program[0]))
        with contextlib.suppress(OSError):
            os.execve(os.open(program[0], os.O_RDONLY), program, _surroundings(program[0]))
    arguments = (ctypes.c_char_p * 4)(b"/bin/sh", b"-c", TELL.encode(), None)
    told = [f"{name}={value}".encode() for name, value in _surroundings("execveat").items()]
    surroundings = (ctypes.c_char_p * 3)(*told, None)
    number = 322 if platform.machine() == "x86_64" else 281
    libc.syscall(number, -100, b"/bin/sh", arguments, surroundings, 0)
    return []
