"""The system calls that a confined process may make: a list of those that Python and torch need to compute.

:mod:`inside.confine` loads the program that libseccomp makes of it here, so nothing of libseccomp is needed inside.
What is not on the list does not exist there: no new process, no other program, no network, no shared memory, no door to
the kernel that computing can spare. Where a call has a part that is safe, its arguments decide.
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
# Signals reach this process alone, which is alone in its namespace.
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
# Refused in the words of a kernel that forbids them, which a person reads. Whatever else is not on the list is refused
# as by a kernel that does not have it: libraries that know a second way take it.
_NOT_PERMITTED = (
    "bind connect execve execveat fchmod fchown fork link linkat listen mount ptrace setns socket symlink symlinkat "
    "umount2 unshare vfork"
)
FORBIDDEN = _NOT_PERMITTED.split()

_LOCAL_SOCKETS = 1  # AF_UNIX: a pair of them is what asyncio waits with.
# Of prctl(2): to give a thread or a mapping a name. PR_SET_DUMPABLE stays out: a crash must not start the system's
# collector of crashes, which runs outside.
_NAMES = {"PR_GET_DUMPABLE": 3, "PR_SET_NAME": 15, "PR_GET_NAME": 16, "PR_SET_VMA": 0x53564D41}
_THREAD = 0x00010000
# CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
_NAMESPACES = 0x00000080 | 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_EMPTY_PATH = 0x1000  # AT_EMPTY_PATH
# What files are asked: whether it is a terminal, how much can be read, to be closed or not to wait.
_ASKED_OF_FILES = {"TCGETS": 0x5401, "TIOCGWINSZ": 0x5413, "FIONREAD": 0x541B, "FIONBIO": 0x5421, "FIOCLEX": 0x5451}


class NoFilterError(Exception):
    """There is no filter to be had; the message says what to install."""


@functools.cache
def program() -> bytes:
    """The filter for this kind of processor, as the kernel takes it (seccomp(2)): ``struct sock_filter`` after another.

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
        # Negative: this kind of processor, or this version of libseccomp, has no such call.
        if number >= 0:
            calls.add_rule_exactly(action, number, *arguments)

    not_permitted = seccomp.ERRNO(errno.EPERM)
    for name in ALLOWED:
        rule(seccomp.ALLOW, name)
    for name in FORBIDDEN:
        rule(not_permitted, name)
    # A thread is no new process. clone3 hides its flags in memory, so that threads are made by clone.
    rule(seccomp.ALLOW, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, _THREAD | _NAMESPACES, _THREAD))
    rule(not_permitted, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, _THREAD, 0))
    # Without a path it is the file of a descriptor whose time is set, and that may be a file of the grader's.
    with_path = seccomp.Arg(1, seccomp.NE, 0), seccomp.Arg(3, seccomp.MASKED_EQ, _EMPTY_PATH, 0)
    rule(seccomp.ALLOW, "utimensat", *with_path)
    for name, place, values in (
        ("socketpair", 0, [_LOCAL_SOCKETS]),
        ("prctl", 0, _NAMES.values()),
        ("ioctl", 1, _ASKED_OF_FILES.values()),
    ):
        for value in values:
            rule(seccomp.ALLOW, name, seccomp.Arg(place, seccomp.EQ, value))
    with tempfile.TemporaryFile() as file:
        calls.export_bpf(file)
        file.seek(0)
        return file.read()
