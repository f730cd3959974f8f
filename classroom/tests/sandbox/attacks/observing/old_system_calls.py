"""Start a process by the system calls of a 32-bit program, which have other numbers, in machine code of its own.

Harm: a process is there, to which no filter applies; the answer says so.
"""

import ctypes
import mmap
import os
import platform

if platform.machine() != "x86_64":
    os.abort()
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
# mov eax, 2 (fork); int 0x80; ret
code.write(b"\xb8\x02\x00\x00\x00\xcd\x80\xc3")
start = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))


def paired(*given):
    return ["a process"] if start() >= 0 else []
