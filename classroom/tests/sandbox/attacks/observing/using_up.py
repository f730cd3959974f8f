"""Submissions that use up time, memory or disk space, end their process, or send too much data.

Each cell, together with the lines above the first cell, is a separate submission.
"""

import contextlib
import ctypes
import mmap
import os
import resource
import signal
import tempfile
import threading
import time

libc = ctypes.CDLL(None)
FOLDER = tempfile.gettempdir()


# %% busy_in_threads
"""Use several processors, in code that cannot be interrupted, in threads that run on after the answer was returned.

Harm: a thread runs on, or the next submission waits.
"""

import torch


def burn():
    x = torch.randn(256, 256)
    while True:
        torch.mm(x, x)


for _ in range(8):
    with contextlib.suppress(RuntimeError):  # Some machines cannot start so many.
        threading.Thread(target=burn).start()
burn()


# %% ignore_signals
"""Ignore every signal, including those for exceeded limits, and never finish.

Harm: it runs on, and the next submission waits.
"""

for number in range(1, 65):
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))


def paired(*given):
    signal.setitimer(signal.ITIMER_REAL, 0)
    while True:
        pass


# %% stop_itself
"""Stop without an answer and without using the processor: by a signal, or by waiting for itself.

Harm: the process stays for ever, and the next submission waits.
"""


def paired(*given):
    for number in (signal.SIGSTOP, signal.SIGTSTP):
        os.kill(os.getpid(), number)
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


# %% memory_bomb
"""Allocate memory without end: as Python objects, as one tensor of 64 GB, as many tensors.

Harm: the machine runs out of memory; the answer says which kind of allocation worked.
"""


def objects():
    taken = []
    while len(taken) < 4 << 10:
        taken.append(bytearray(1 << 20))
    return "4 GB of objects"


def tensors():
    taken = []
    while len(taken) < 256:
        taken.append(torch.ones(1 << 22))
    return "4 GB of tensors"


def paired(*given):
    found = []
    with contextlib.suppress(MemoryError):
        found.append(objects())
    global torch
    import torch

    with contextlib.suppress(RuntimeError):
        found.append(f"{torch.empty(1 << 36, dtype=torch.uint8).nbytes >> 30} GB in one tensor")
    with contextlib.suppress(RuntimeError):
        found.append(tensors())
    return found


# %% memory_behind_descriptors
"""Allocate memory that no process limit counts: files in memory, shared memory, queues.

Harm: the memory stays allocated when the process has ended; the answer says which kind of allocation worked.
"""

NAME = int("@TRACE_KEY@")


def paired(*given):
    worked = []
    with contextlib.suppress(OSError):
        os.memfd_create("hoard")
        worked.append("memfd")
    if libc.shmget(NAME, 1 << 20, 0o1600) != -1:
        worked.append("shmget")
    if libc.msgget(NAME, 0o1600) != -1:
        worked.append("msgget")
    if libc.mq_open(b"/by-an-attack", os.O_CREAT | os.O_RDWR, 0o600, None) != -1:
        worked.append("mq_open")
    with contextlib.suppress(OSError):
        mmap.mmap(-1, 8 << 30)
        worked.append("mmap")
    return worked


# %% thread_bomb
"""Start threads without end, with stacks so small that memory is no limit.

Harm: the machine cannot start other threads; the answer says that there was no limit.
"""

threading.stack_size(1 << 16)


def paired(*given):
    # Each call needs its own event: with the event of an earlier call, the threads would end at once.
    stop = threading.Event()
    count = 0
    with contextlib.suppress(RuntimeError, MemoryError):
        for count in range(5000):  # noqa: B007
            threading.Thread(target=stop.wait, daemon=True).start()
    stop.set()
    time.sleep(0.05)
    return ["as many threads as it likes"] if count > 200 else []


# %% fill_the_disk
"""Fill the folder for temporary files with files as large as possible, ignoring the limit's signal, and with names.

Harm: the disk has no space or no inodes left; the answer says how large a file and the folder became.
"""

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def paired(*given):
    sizes, names = [], 0
    for number in range(40):
        sizes.append(0)
        with contextlib.suppress(OSError), open(f"{FOLDER}/by-an-attack-{number}", "wb", buffering=0) as file:
            while sizes[-1] < 18 << 20:
                sizes[-1] += file.write(bytes(1 << 20))
    with contextlib.suppress(OSError):
        for number in range(100_000):
            os.mkdir(f"{FOLDER}/by-an-attack-{number}-folder")
            names += 1
    large, whole = max(sizes) > 17 << 20, sum(sizes) > 100 << 20
    return ["a file of more than 16 MB"] * large + ["more than 100 MB"] * whole + [f"{names} names"] * (names > 5000)


# %% crash_with_a_dump
"""Write to an invalid address, and have the system save a core dump, in a file or through a program outside.

Harm: the warm process ends; the dump is saved somewhere, or the answer says that it could be.
"""


def paired(*given):
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if libc.prctl(4, 1, 0, 0, 0) == 0 or libc.prctl(3, 0, 0, 0, 0) > 0:
        return ["it could be dumped"]
    return ctypes.memset(0, 1, 1)


# %% leave_in_the_answer
"""Exit with the status of a successful run.

Harm: the exit status counts as a right answer.
"""


def paired(*given):
    os._exit(87)


# %% huge_output
"""Print a gigabyte.

Harm: the grader runs out of memory, and the next submission gets no result.
"""


def paired(*given):
    for _ in range(1000):
        print("x" * (1 << 20))
    return []


# %% huge_result
"""Return huge data made by short code: a long list, deep nesting, and many references to the same object.

Harm: the grader runs out of memory, and the next submission gets no result.
"""

ANSWERS = "no report"


def paired(*given):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    many = [0] * 5000
    for _ in range(4):
        many = [many] * 5000
    return [deep, many, "x" * (1 << 26), 10 ** (10**6)]


# %% strange_text
"""Send text that cannot be written to a file (unpaired surrogates, null characters), in a message and in a result.

Harm: the grader fails when it writes the text, and the next submission gets no result.
"""

ANSWERS = "no report"


def paired(*given):
    print("\ud800 \x00 \udfff")
    return ["\ud83d", "\x00", "\udc80 = cmd"]
