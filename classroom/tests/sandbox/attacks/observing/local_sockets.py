"""Reach local services: sockets in files, and those of abstract names, which no folder holds.

Harm: somebody is reached; the answer says who.
"""

import contextlib
import ctypes
import socket

PATHS = (
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/dbus/system_bus_socket",
    "/tmp/.X11-unix/X0",
    "\0@LOCAL@",
)
libc = ctypes.CDLL(None)


def paired(*given):
    worked = []
    for path in PATHS:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with contextlib.suppress(OSError):
                socket.socket(socket.AF_UNIX, kind).connect(path)
                worked.append(path)
            one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            with contextlib.suppress(OSError):
                one.connect(path)
                worked.append(f"{path} from a pair")
            with contextlib.suppress(OSError):
                one.sendto(b"hello", path)
                worked.append(f"{path} sent from a pair")
            with contextlib.suppress(OSError):
                one.bind("\0by-an-attack")
                worked.append("bound")
    return worked
