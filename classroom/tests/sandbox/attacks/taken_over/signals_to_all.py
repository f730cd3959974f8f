"""Send signals to every number that could be a process, and read how each is doing.

Harm: the process that forks, or the grader, ends or waits.
"""

import contextlib
import os
import resource
import signal


def paired(*given):
    found = []
    for number in (-1, 0, 2, *range(2, 4000)):
        if number in (0, -1):
            continue
        for which in (signal.SIGKILL, signal.SIGSTOP):
            with contextlib.suppress(OSError):
                os.kill(number, which)
                found.append(f"signal {which} to {number}")
        with contextlib.suppress(OSError):
            resource.prlimit(number, resource.RLIMIT_CPU)
            found.append(f"limits of {number}")
    for number in (0, 1, 2):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(number, {0})
            found.append(f"processor of {number}")
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, number, -10)
            found.append(f"priority of {number}")
    return found
