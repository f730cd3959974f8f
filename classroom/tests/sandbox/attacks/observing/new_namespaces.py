"""Become root in a namespace of its own, or join another's, and mount what is hidden.

Harm: it sees what is hidden, or changes what is shown; the answer says what worked.
"""

import contextlib
import ctypes
import os

libc = ctypes.CDLL(None)


def paired(*given):
    worked = []
    for kind in (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000, 0x00000080):
        if libc.unshare(kind) == 0:
            worked.append(f"unshare {kind:x}")
    for name in ("mnt", "pid", "user", "net"):
        with contextlib.suppress(OSError):
            if libc.setns(os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0) == 0:
                worked.append(f"setns {name}")
    for call in (
        lambda: libc.mount(b"tmpfs", b"/usr", b"tmpfs", 0, None),
        lambda: libc.mount(b"none", b"/", None, 32 | 4096, None),
        lambda: libc.umount2(b"/tmp", 2),
        lambda: libc.umount2(b"/proc", 2),
        lambda: libc.pivot_root(b"/tmp", b"/tmp"),
        lambda: libc.chroot(b"/tmp"),
        lambda: libc.syscall(430, b"tmpfs", 0),
        lambda: libc.syscall(428, -100, b"/", 1),
    ):
        if call() != -1:
            worked.append("a mount")
    return worked
