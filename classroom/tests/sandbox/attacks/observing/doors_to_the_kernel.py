"""Open what exploits of kernels begin with: bpf, io_uring, performance events, keys, page faults, modules.

Harm: one of them opens; the answer says which.
"""

import ctypes
import errno
import platform

libc = ctypes.CDLL(None, use_errno=True)
INTEL = {"bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "add_key": 248, "request_key": 249, "keyctl": 250}
INTEL |= {"init_module": 175, "finit_module": 313, "kexec_load": 246, "reboot": 169, "swapon": 167, "syslog": 103}
INTEL |= {"modify_ldt": 154, "personality": 135, "vmsplice": 278, "splice": 275, "move_pages": 279, "acct": 163}
ARM = {"bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "add_key": 217, "request_key": 218, "keyctl": 219}
BOTH = {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "fsopen": 430}
BOTH |= {"memfd_secret": 447, "quotactl_fd": 443, "a call that nobody knows": 499, "another": 600}


def paired(*given):
    worked = []
    for name, number in {**(INTEL if platform.machine() == "x86_64" else ARM), **BOTH}.items():
        ctypes.set_errno(0)
        # An error of another kind would say that the call was let in and only its arguments were wrong.
        if libc.syscall(number, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
            worked.append(f"{name}: {errno.errorcode.get(ctypes.get_errno())}")
    return worked
