"""Become root, or another user; get capabilities back; lift the limits.

Harm: it may do what it likes; the answer says what it got.
"""

import contextlib
import ctypes
import os
import resource

libc = ctypes.CDLL(None)


def paired(*given):
    worked = ["it is root"] * (os.getuid() == 0 or os.getgid() == 0)
    for become in (os.setuid, os.seteuid, os.setgid, os.setegid, lambda user: os.setgroups([user])):
        for user in (0, 1, 1000, 65534):
            with contextlib.suppress(OSError):
                if user not in (os.getuid(), os.getgid()):
                    become(user)
                    worked.append(f"{become} {user}")
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)) == 0:
        worked.append("capabilities")
    with open("/proc/self/status") as status:
        worked += [line for line in status if line.startswith(("CapEff", "CapPrm")) and int(line.split()[1], 16)]
    kinds = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
    for kind in kinds:
        soft, hard = resource.getrlimit(kind)
        with contextlib.suppress(OSError, ValueError):
            if hard != resource.RLIM_INFINITY:
                resource.setrlimit(kind, (hard + 1, hard + 1))
                worked.append(f"limit {kind}")
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -5)
        worked.append("priority")
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
        worked.append("real time")
    return worked
