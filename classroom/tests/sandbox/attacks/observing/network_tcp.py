"""Reach the network by TCP: loopback, the metadata service of clouds, a name; and serve on a port.

Harm: somebody is reached; the answer says who.
"""

import contextlib
import http.client
import socket
import urllib.request

ADDRESSES = (("127.0.0.1", int("@TCP@")), ("169.254.169.254", 80), ("1.1.1.1", 443), ("localhost", 80))


def paired(*given):
    worked = []
    for address in ADDRESSES:
        with contextlib.suppress(OSError):
            socket.create_connection(address, timeout=0.2).close()
            worked.append(str(address))
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET, 40):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            with contextlib.suppress(OSError):
                socket.socket(family, kind)
                worked.append(f"{family} {kind}")
    with contextlib.suppress(OSError):
        socket.create_server(("127.0.0.1", 0))
        worked.append("served")
    with contextlib.suppress(OSError, http.client.HTTPException):
        urllib.request.urlopen("http://example.org", timeout=0.2)
        worked.append("http")
    return worked
