"""Send out what was found, by UDP and by asking a name server.

Ends: nothing worked
"""

import contextlib
import socket


def paired(*given):
    worked = []
    with contextlib.suppress(OSError):
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"secret", ("8.8.8.8", 53))
        worked.append("udp")
    for name in ("example.org", "secret.example.org", "metadata.google.internal"):
        with contextlib.suppress(OSError):
            socket.getaddrinfo(name, 80)
            worked.append(name)
    return worked
