"""The filter of system calls: no new process, no program, no network, no door to the kernel that Python can spare.

It is a program for the kernel's packet filter (seccomp(2), linux/filter.h), made here from a table of numbers.
"""

from __future__ import annotations

import ctypes
import errno
import platform

# On x86_64 and aarch64; None where the machine has no such call. Source: the kernel's tables of system calls.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # New processes, other programs.
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    # Other processes.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_send_signal": (424, 424),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    # Namespaces and mounts.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # The network: a pair of sockets can still be made, which asyncio needs.
    "socket": (41, 198),
    "bind": (49, 200),
    "connect": (42, 203),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    # Memory that no limit counts: shared, or behind a descriptor, and what else outlives a process.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # What breaks kernels.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "fanotify_init": (300, 262),
    "splice": (275, 76),
    "tee": (276, 77),
    "vmsplice": (278, 75),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "personality": (135, 92),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    # The machine itself.
    "seccomp": (317, 277),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "iopl": (172, None),
    "ioperm": (173, None),
    "vhangup": (153, 58),
}
_MACHINES = {"x86_64": 0, "aarch64": 1}
_ARCHITECTURE = (0xC000003E, 0xC00000B7)
_CLONE = (56, 220)
_CLONE3 = 435
_PRCTL = (157, 167)
_SET_DUMPABLE = 4
# Calls that Linux got after 6.10, and on x86_64 those of its other numbering, which begins at 1 << 30.
_NEWEST = 462
_THREAD = 0x00010000
# CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
_NAMESPACES = 0x00000080 | 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000

_LOAD, _EQUAL, _GREATER, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_SET_SECCOMP, _FILTER = 22, 2
# Where struct seccomp_data has the number, the machine, and the lower half of the first argument.
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16


class UnknownMachineError(Exception):
    """There is no table of system calls for this kind of processor."""


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("value", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(_Instruction)))


class Filter:
    """The filter, made ready; :meth:`install` works in a process that may not gain privileges any more.

    Raises:
        UnknownMachineError: for a processor other than x86_64 and aarch64.
    """

    def __init__(self, machine: str = "") -> None:
        machine = machine or platform.machine()
        if machine not in _MACHINES:
            raise UnknownMachineError(f"there is no table of system calls for {machine} ({', '.join(_MACHINES)})")
        lines = _lines(_MACHINES[machine])
        self._instructions = (_Instruction * len(lines))(*lines)
        self._program = _Program(len(lines), self._instructions)
        self._libc = ctypes.CDLL(None, use_errno=True)

    def install(self) -> None:
        """Filter every later call of this process; there is no way back.

        Raises:
            OSError: the kernel refuses it.
        """
        if self._libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(self._program), 0, 0):
            raise OSError(ctypes.get_errno(), "the kernel takes no filter of system calls")


def _lines(machine: int) -> list[tuple[int, int, int, int]]:
    refuse = (_RETURN, 0, 0, _ERROR | errno.EPERM)
    # What asks for a call that is not there does without it.
    missing = (_RETURN, 0, 0, _ERROR | errno.ENOSYS)
    lines = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, _ARCHITECTURE[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_GREATER, 0, 1, _NEWEST),
        missing,
        (_EQUAL, 0, 1, _CLONE3),
        missing,
    ]
    for numbers in _REFUSED.values():
        if (number := numbers[machine]) is not None:
            lines += [(_EQUAL, 0, 1, number), refuse]
    return [
        *lines,
        # A crash must not start the system's collector of crashes, which runs outside.
        (_EQUAL, 0, 4, _PRCTL[machine]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 0, 1, _SET_DUMPABLE),
        refuse,
        (_RETURN, 0, 0, _ALLOW),
        # A thread is no new process; clone3 hides its flags in memory, so threads are made by clone.
        (_EQUAL, 1, 0, _CLONE[machine]),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 2, 0, _NAMESPACES),
        (_ANY_BIT, 0, 1, _THREAD),
        (_RETURN, 0, 0, _ALLOW),
        refuse,
    ]
