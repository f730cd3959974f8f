"""Submissions that use up time, memory or disk, end their process, or send more than anybody wants to read.

Each cell is a submission of its own, behind the lines above the first one.
"""

import contextlib
import ctypes
import mmap
import os
import resource
import signal
import sys
import tempfile
import threading
import time

libc = ctypes.CDLL(None)
FOLDER = tempfile.gettempdir()


# %% busy_in_threads
"""Use more processors than one, in code that nothing interrupts, from threads that go on when the answer is given.

Harm: a thread runs on, or the next one waits.
"""

import torch


def burn():
    x = torch.randn(256, 256)
    while True:
        torch.mm(x, x)


for _ in range(8):
    with contextlib.suppress(RuntimeError):  # Some machines have no room for so many.
        threading.Thread(target=burn).start()
burn()


# %% endless_loop_that_catches_all
"""Never end, and catch whatever is raised to end it.

Harm: it runs on, and the next one waits.
"""


def paired(*given):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


# %% ignore_signals
"""Ignore every signal, those of limits too, and never end.

Harm: it runs on, and the next one waits.
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
"""Stop, so that nobody gets an answer and no processor is used: by signals, and by waiting for itself.

Harm: it stays for ever, and the next one waits.
"""


def paired(*given):
    for number in (signal.SIGSTOP, signal.SIGTSTP):
        os.kill(os.getpid(), number)
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


# %% message_that_never_ends
"""Raise an error whose message runs code that never ends.

Harm: it runs on, and the next one waits.
"""


class Endless(Exception):
    def __str__(self):
        while True:
            pass


raise Endless


# %% memory_bomb
"""Take memory without end: as Python objects, as one tensor of 64 GB, as many tensors.

Harm: the machine runs out of memory; the answer says which kind was to be had.
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
"""Take memory that no limit of a process counts: files in memory, shared memory, queues.

Harm: memory is gone when the process is; the answer says which kind it got.
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
"""Start threads without end, so small that memory is no limit.

Harm: the machine has no room for other threads; the answer says that there was no limit.
"""

threading.stack_size(1 << 16)


def paired(*given):
    # Of each call its own: those of an earlier call would end at once, and count for nothing.
    stop = threading.Event()
    count = 0
    with contextlib.suppress(RuntimeError, MemoryError):
        for count in range(5000):  # noqa: B007
            threading.Thread(target=stop.wait, daemon=True).start()
    stop.set()
    time.sleep(0.05)
    return ["as many threads as it likes"] if count > 200 else []


# %% fill_the_disk
"""Fill the folder for temporary files: with files as large as they can be, though a signal forbids it, and with names.

Harm: the disk is full, or has no room for names; the answer says how large a file grew and how much got there.
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
"""Write where nothing is, and have the system keep a picture of this process, in a file or by a program outside.

Harm: the process that imports torch for all ends; the picture lies somewhere, or the answer says that it could.
"""


def paired(*given):
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if libc.prctl(4, 1, 0, 0, 0) == 0 or libc.prctl(3, 0, 0, 0, 0) > 0:
        return ["it could be dumped"]
    return ctypes.memset(0, 1, 1)


# %% exit_politely
"""Ask Python to exit.

Harm: the process that runs the next one exits.
"""

sys.exit("done")


# %% leave_in_the_answer
"""End the process with the status that a good end has.

Harm: an end that looks good is taken for a right answer.
"""


def paired(*given):
    os._exit(87)


# %% huge_message
"""Raise an error whose message is huge, and no text that can be written.

Harm: the grader runs out of memory, or writes a report that nobody can open.
"""


class Huge(Exception):
    def __str__(self):
        return "x" * (1 << 24) + "\ud800"


def paired(*given):
    raise Huge


raise Huge


# %% huge_output
"""Print a gigabyte.

Harm: the grader runs out of memory, and the next one gets nothing.
"""


def paired(*given):
    for _ in range(1000):
        print("x" * (1 << 20))
    return []


# %% huge_result
"""Return much, in ways that are short to write: long, deep, and the same thing many times.

Harm: the grader runs out of memory, and the next one gets nothing.
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
"""Send text that no file can hold: halves of characters, nulls, in a message and in a result.

Harm: the grader fails when it writes the text down, and the next one gets nothing.
"""

ANSWERS = "no report"


def paired(*given):
    print("\ud800 \x00 \udfff")
    return ["\ud83d", "\x00", "\udc80 = cmd"]
