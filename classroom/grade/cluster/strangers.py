"""Keep strangers out of a cluster of Dask: whoever can send it work runs code there and reads what it is sent.

Dask itself asks nobody who they are, unless it has certificates. So it may be used without only where nobody else gets:
on the loopback address, of this machine or at the end of an SSH tunnel. That an address is a loopback address does not
say that nothing else is listened on, by a worker or by the page that Dask shows of itself: each process is asked.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from classroom.grade.grading import GradingError

_PORT = 8786
_ADDRESSES = "--dask takes tcp://127.0.0.1:8786, for this machine, or tls://HOST:8786 with --tls FOLDER"
_INSTEAD = (
    "Use tls://HOST:8786 with --tls FOLDER, for which `python3 -m classroom certificates` makes certificates, or an "
    "SSH tunnel to tcp://127.0.0.1:8786; the guide for teachers has the commands"
)


def safe_address(address: str, *, certificates: bool) -> str:
    """The address of a scheduler, as Dask is to be given it, where no stranger can take part.

    Args:
        address: as the teacher gave it.
        certificates: whether there are any for it.

    Raises:
        GradingError: anybody could reach it, or it is none; the message says what to give instead.
    """
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        host, port = parts.hostname or "", parts.port or _PORT
    except ValueError:
        host, port = "", _PORT
    if not host or parts.scheme not in ("tcp", "tls") or parts.path.strip("/") or parts.query or parts.username:
        raise GradingError(f"{address} is no address for --dask: {_ADDRESSES}.")
    if parts.scheme == "tls":
        if not certificates:
            raise GradingError(f"{address} needs --tls FOLDER: `python3 -m classroom certificates` makes certificates.")
        return f"tls://{_bracketed(host)}:{port}"
    if certificates:
        raise GradingError(f"--tls FOLDER is for tls://, and {address} is not: {_ADDRESSES}.")
    # Dask is given what was looked at: the same name might stand for another machine a moment later.
    addresses = _looked_up(host, port)
    if not addresses or not all(map(is_loopback, addresses)):
        raise GradingError(
            f"{address} is not of this machine alone, and without certificates whoever reaches it can run code in the "
            f"workers and read what they grade. {_INSTEAD}."
        )
    return f"tcp://{_bracketed(addresses[0])}:{port}"


def _looked_up(host: str, port: int) -> list[str]:
    try:
        return [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        return []


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def is_loopback(host: str) -> bool:
    """Whether an address is one that only this machine itself reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Door(NamedTuple):
    """An address on which a process listens; ``kind`` is ``"tcp"`` or ``"tls"`` for work, ``"page"`` for all else."""

    host: str
    port: int
    kind: str


def doors(dask_scheduler: Any = None, dask_worker: Any = None) -> list[Door]:
    """In a scheduler, a worker or a nanny: on what its process listens. Dask passes the argument, by its name."""
    import psutil

    listeners = (dask_scheduler or dask_worker).listeners
    kinds = {urlsplit(listener.listen_address).port: urlsplit(listener.listen_address).scheme for listener in listeners}
    listening = (
        connection.laddr
        for connection in psutil.Process().net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    )
    return [Door(*place, kinds.get(place.port, "page")) for place in listening]


def check_doors(who: str, listening: Iterable[Door]) -> None:
    """Refuse a process of the cluster that listens to strangers.

    Raises:
        GradingError: it does; the message names the address and says how to start the process instead.
    """
    for host, port, kind in listening:
        if kind == "tls" or is_loopback(host):
            continue
        place = f"{_bracketed(host)}:{port}"
        if kind == "page":
            raise GradingError(
                f"{who} shows what it does on {place}, to whoever reaches that machine: start it with "
                "`--dashboard-address 127.0.0.1:0`."
            )
        raise GradingError(
            f"{who} takes work on {place} from whoever reaches that machine: start it with `--host 127.0.0.1`. "
            f"{_INSTEAD}."
        )
