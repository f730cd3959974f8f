"""The allow-list of system calls for a confined process: those that Python and torch need to compute.

libseccomp compiles the list here and :mod:`inside.confine` loads the result, so libseccomp is not needed inside. Any
other call fails: a process cannot start a process or program, use the network or shared memory, or reach parts of the
kernel that computing does not need. If only some uses of a call are safe, its arguments decide.
"""

from __future__ import annotations

import errno
import functools
import tempfile

_FILES = (
    "access close close_range dup dup2 dup3 faccessat faccessat2 fadvise64 fallocate fchmodat fcntl fdatasync "
    "fgetxattr flistxattr flock fstat fstatfs fsync ftruncate getcwd getdents getdents64 getxattr lgetxattr listxattr "
    "llistxattr lseek lstat mkdir mkdirat newfstatat open openat pipe pipe2 pread64 preadv preadv2 pwrite64 pwritev "
    "pwritev2 read readahead readlink readlinkat readv rename renameat renameat2 rmdir sendfile stat statfs statx "
    "truncate umask unlink unlinkat utime utimes chdir fchdir chmod copy_file_range write writev"
)
_MEMORY = "brk get_mempolicy madvise membarrier mincore mmap mprotect mremap msync munmap"
_TIME = "alarm clock_getres clock_gettime clock_nanosleep getitimer gettimeofday nanosleep pause setitimer time times"
# Signals can only reach this process, which is alone in its namespace.
_SIGNALS = (
    "kill restart_syscall rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend "
    "rt_sigtimedwait rt_tgsigqueueinfo sigaltstack signalfd4 tgkill tkill"
)
_THREADS = (
    "arch_prctl exit exit_group futex futex_wait futex_waitv futex_wake get_robust_list getcpu rseq "
    "sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler "
    "sched_yield set_robust_list set_tid_address wait4 waitid"
)
_WAITING = (
    "epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 poll ppoll pselect6 "
    "recvfrom select sendto shutdown timerfd_create timerfd_gettime timerfd_settime"
)
_QUESTIONS = (
    "capget getegid geteuid getgid getgroups getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid "
    "getrlimit getrusage getsid gettid getuid prlimit64 setrlimit sysinfo uname"
)
ALLOWED = " ".join((_FILES, _MEMORY, _TIME, _SIGNALS, _THREADS, _WAITING, _QUESTIONS)).split()
# These fail with "not permitted", which a person can read. Other calls fail as if the kernel did not have them, so that
# libraries fall back to alternatives.
_NOT_PERMITTED = (
    "bind connect execve execveat fchmod fchown fork link linkat listen mount ptrace setns socket symlink symlinkat "
    "umount2 unshare vfork"
)
FORBIDDEN = _NOT_PERMITTED.split()

_LOCAL_SOCKETS = 1  # AF_UNIX: asyncio waits with a pair of them.
# For prctl(2): naming a thread or a mapping. PR_SET_DUMPABLE is left out, because a crash must not start the system's
# crash collector, which runs outside.
_NAMES = {"PR_GET_DUMPABLE": 3, "PR_SET_NAME": 15, "PR_GET_NAME": 16, "PR_SET_VMA": 0x53564D41}
_THREAD = 0x00010000
# CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
_NAMESPACES = 0x00000080 | 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_EMPTY_PATH = 0x1000  # AT_EMPTY_PATH
# Requests to an open file: is it a terminal, how much can be read, close it on exec, do not block.
_FILE_REQUESTS = {"TCGETS": 0x5401, "TIOCGWINSZ": 0x5413, "FIONREAD": 0x541B, "FIONBIO": 0x5421, "FIOCLEX": 0x5451}


class NoFilterError(Exception):
    """The filter cannot be built; the message says what to install."""


@functools.cache
def program() -> bytes:
    """The filter for this kind of processor in the kernel's format (seccomp(2)): an array of ``struct sock_filter``.

    Raises:
        NoFilterError: libseccomp or its Python binding is not installed.
    """
    try:
        import pyseccomp as seccomp
    except ImportError:
        raise NoFilterError("the Python package `pyseccomp` is not installed: `pip install pyseccomp`") from None
    except RuntimeError:
        raise NoFilterError("libseccomp is not installed: `apt install libseccomp2` on Debian and Ubuntu") from None
    calls = seccomp.SyscallFilter(seccomp.ERRNO(errno.ENOSYS))
    calls.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)

    def rule(action: int, name: str, *arguments: seccomp.Arg) -> None:
        number = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)
        # Negative: this processor or libseccomp does not know the call.
        if number >= 0:
            calls.add_rule_exactly(action, number, *arguments)

    not_permitted = seccomp.ERRNO(errno.EPERM)
    for name in ALLOWED:
        rule(seccomp.ALLOW, name)
    for name in FORBIDDEN:
        rule(not_permitted, name)
    # Allow threads but no processes. clone3 is not allowed, because the filter cannot read its flags in memory; threads
    # then use clone.
    rule(seccomp.ALLOW, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, _THREAD | _NAMESPACES, _THREAD))
    rule(not_permitted, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, _THREAD, 0))
    # Without a path the call sets the time of an open descriptor, which may belong to the grader.
    with_path = seccomp.Arg(1, seccomp.NE, 0), seccomp.Arg(3, seccomp.MASKED_EQ, _EMPTY_PATH, 0)
    rule(seccomp.ALLOW, "utimensat", *with_path)
    for name, place, values in (
        ("socketpair", 0, [_LOCAL_SOCKETS]),
        ("prctl", 0, _NAMES.values()),
        ("ioctl", 1, _FILE_REQUESTS.values()),
    ):
        for value in values:
            rule(seccomp.ALLOW, name, seccomp.Arg(place, seccomp.EQ, value))
    with tempfile.TemporaryFile() as file:
        calls.export_bpf(file)
        file.seek(0)
        return file.read()
