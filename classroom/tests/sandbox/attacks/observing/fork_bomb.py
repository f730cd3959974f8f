"""Start processes without end, in each of the ways that Python and C have.

Harm: the machine has no room for other processes; the answer says which way worked.
"""

import ctypes
import multiprocessing
import os
import subprocess

libc = ctypes.CDLL(None)
ways = {
    "fork": os.fork,
    "forkpty": os.forkpty,
    "spawn": lambda: os.posix_spawn("/usr/bin/sleep", ["by-an-attack", "60"], {}),
    "subprocess": lambda: subprocess.Popen(["by-an-attack", "60"], executable="/usr/bin/sleep"),
    "shell": lambda: subprocess.check_output("echo hello", shell=True),
    "multiprocessing": lambda: multiprocessing.get_context("fork").Process(target=print).start(),
    "spawned": lambda: multiprocessing.get_context("spawn").Process(target=print).start(),
}


def paired(*given):
    worked = []
    for _ in range(50):
        for name, way in ways.items():
            try:
                way()
                worked.append(name)
            except OSError:
                pass
        if libc.fork() != -1 or libc.vfork() != -1:
            worked.append("libc")
        if os.system("true") == 0:
            worked.append("system")
    return worked
