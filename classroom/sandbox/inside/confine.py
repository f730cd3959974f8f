"""Confine a process: separate namespaces, a user of its own, no privileges, few system calls.

Call :meth:`Forks.fork` first and then, in the new process, :func:`see_nothing_else`, :func:`limit_counts` and
:func:`give_up_rights`, which cannot be undone. Linux only; uses only the standard library.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path

# <sched.h>, <sys/mount.h>, <sys/prctl.h>, <linux/capability.h>
_MOUNTS, _SHARED_MEMORY, _PROCESSES, _NETWORK = 0x20000, 0x8000000, 0x20000000, 0x40000000
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_PROGRAMS, _RECURSIVE, _PRIVATE = 1, 2, 4, 8, 0x4000, 0x40000
_DIE_WITH_PARENT, _DUMPABLE, _NO_NEW_PRIVILEGES, _SET_SECCOMP = 1, 4, 38, 22
_FILTER = 2
_CAPABILITIES_VERSION = 0x20080522
# These limits suffice for any answer. They are low because all of these resources use kernel memory.
_MOST_FILES = 2048
_MOST_OPEN = 256
_MOST_SIGNALS = 64


class RefusedError(Exception):
    """The kernel refuses a part of the confinement; the message says which."""


@dataclasses.dataclass(frozen=True)
class Bounds:
    """The limits of one submission, with sizes in bytes.

    Args:
        processor_seconds: the processor time of all its threads together.
        memory: the memory in addition to what torch uses already.
        threads: the number of simultaneous threads; new processes are not allowed.
        file_bytes: the size of one file.
        folder_bytes: the size of all files.
    """

    processor_seconds: float
    memory: int
    threads: int
    file_bytes: int
    folder_bytes: int


_libc = ctypes.CDLL(None, use_errno=True)


class Forks:
    """Forks processes, each alone in its own PID namespace."""

    def __init__(self) -> None:
        self._home = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def fork(self) -> int:
        """Like ``os.fork()``; the new process is number 1 of its namespace.

        Raises:
            RefusedError: the kernel does not allow namespaces here.
        """
        _call("a process namespace", _libc.unshare, _PROCESSES)
        child = os.fork()
        if child:
            # Go back, so that the next fork gets its own namespace.
            _call("returning from a namespace", _libc.setns, self._home, _PROCESSES)
        else:
            os.close(self._home)
        return child


def be_the_first_to_go() -> None:
    """If the bubble runs out of memory, let the kernel kill this process rather than the one that forks."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def see_nothing_else(bounds: Bounds) -> None:
    """Leave shared mounts, memory and network, with an empty ``$TMPDIR`` and an empty ``/proc``.

    A real ``/proc`` would name folders of this machine as the sources of mounts.

    Raises:
        RefusedError: the kernel does not allow namespaces or mounts here.
    """
    guarded = _NO_SETUID | _NO_DEVICES | _NO_PROGRAMS
    _call("separate namespaces", _libc.unshare, _MOUNTS | _SHARED_MEMORY | _NETWORK)
    _call("separate mounts", _libc.mount, b"none", b"/", None, _RECURSIVE | _PRIVATE, None)
    room = f"size={bounds.folder_bytes},nr_inodes={_MOST_FILES},mode=1777".encode()
    scratch = os.environ["TMPDIR"]
    _call("a new folder", _libc.mount, b"tmpfs", scratch.encode(), b"tmpfs", guarded, room)
    nothing = b"size=4k,nr_inodes=2,mode=555"
    _call("hiding /proc", _libc.mount, b"tmpfs", b"/proc", b"tmpfs", guarded | _READ_ONLY, nothing)
    os.chdir(scratch)


def limit_counts(bounds: Bounds) -> None:
    """Limit threads, open files and queues in the kernel. The library's ``forked.limit`` limits memory and time."""
    wanted = {
        resource.RLIMIT_NPROC: bounds.threads,
        resource.RLIMIT_NOFILE: _MOST_OPEN,
        resource.RLIMIT_SIGPENDING: _MOST_SIGNALS,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 0,
    }
    for kind, most in wanted.items():
        with contextlib.suppress(ValueError):  # It is lower already.
            resource.setrlimit(kind, (most, most))


def give_up_rights(user: int, calls: bytes) -> None:
    """Become a user that owns nothing (if root), drop all capabilities, and install the system-call filter.

    Args:
        user: a user and group number that nobody else has.
        calls: the filter in the kernel's format.

    Raises:
        RefusedError: the kernel does not allow it.
    """
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    _call("dropping capabilities", _libc.capset, header, (ctypes.c_uint32 * 6)())
    _call("switching off core dumps", _libc.prctl, _DUMPABLE, 0, 0, 0, 0)
    _call("ending with the parent process", _libc.prctl, _DIE_WITH_PARENT, int(signal.SIGKILL), 0, 0, 0)
    _call("ruling out new privileges", _libc.prctl, _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    filters = ctypes.create_string_buffer(calls)
    program = _Program(len(calls) // _INSTRUCTION, ctypes.addressof(filters))
    _call("a system-call filter", _libc.prctl, _SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0)


# struct sock_filter, and struct sock_fprog of <linux/filter.h>.
_INSTRUCTION = 8


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def _call(what: str, function: Callable[..., int], *arguments: object) -> None:
    if function(*arguments):
        raise RefusedError(f"the kernel does not allow {what} ({os.strerror(ctypes.get_errno())})")
