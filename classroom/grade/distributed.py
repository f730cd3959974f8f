"""Grade on the workers of a Dask cluster. Dask sends and computes; each worker keeps a sandbox of its own.

Dask hands a task again to another worker when one dies, up to its ``allowed-failures``, and computes results again that
a dead worker held: grading a student twice gives the same marks, and a row is kept once.

Whoever can send work to a worker runs code there, and Dask asks nobody who they are, unless it has certificates. So an
address is one of this machine alone, or speaks TLS as ``distributed.comm.tls`` of Dask's own configuration says.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from concurrent.futures import Executor
from urllib.parse import urlsplit

from classroom.grade.gradebook import code_digest
from classroom.grade.grading import GradingError

_WAIT_SECONDS = 30
_INSTEAD = "take tls://HOST:8786, or an SSH tunnel to tcp://127.0.0.1:8786; the guide for teachers has the commands"


class DaskWorkers:
    """The workers of a scheduler.

    Args:
        address: of the scheduler, ``tcp://127.0.0.1:8786`` or ``tls://HOST:8786``.
        trusted: they are to run the code of students without a sandbox.

    Raises:
        GradingError: strangers could take part, Dask is missing, nobody answers, or a worker cannot grade.
    """

    def __init__(self, address: str, *, trusted: bool = False) -> None:
        self._address = safe_address(address)
        try:
            from dask.distributed import Client, KilledWorker, Security
        except ImportError:
            raise GradingError("--dask needs Dask: .venv/bin/pip install -r classroom/requirements.txt") from None
        self.died: tuple[type[BaseException], ...] = (KilledWorker,)
        security = Security()
        if self._address.startswith("tls:") and not (security.tls_ca_file and security.tls_client_cert):
            raise GradingError(f"{address} needs certificates: name them in Dask's configuration, as the guide shows.")
        try:
            self._client = Client(self._address, timeout=_WAIT_SECONDS, set_as_default=False, security=security)
        except (OSError, ValueError, RuntimeError) as error:
            raise GradingError(f"No scheduler of Dask answers at {self._address} ({error}).") from None
        try:
            self.at_once = self._checked(trusted)
        except BaseException:
            self.stop()
            raise

    def _checked(self, trusted: bool) -> int:
        """How many jobs to hand over at once to workers that can all do them."""
        try:
            self._client.wait_for_workers(1, timeout=_WAIT_SECONDS)
        except TimeoutError:
            raise GradingError(f"The scheduler at {self._address} has no worker: start one, `dask worker …`.") from None
        for worker in self._client.scheduler_info(n_workers=-1)["workers"]:
            safe_address(worker)
        try:
            states = self._client.run(_ready)
        except Exception as error:
            raise GradingError(
                f"A worker of {self._address} cannot grade ({type(error).__name__}: {error}): install the book there "
                "too, with the same packages as here."
            ) from None
        for worker, (version, refusal) in states.items():
            if version != code_digest():
                raise GradingError(f"The worker {worker} has another version of the book or of torch than you.")
            if refusal and not trusted:
                raise GradingError(f"The worker {worker} cannot run submissions safely: {refusal}")
        return 4 * max(1, sum(self._client.nthreads().values()))

    def start(self) -> Executor:
        """Dask's executor: it replaces workers by itself."""
        return self._client.get_executor(pure=False)

    def stop(self) -> None:
        """Leave the cluster; what it has not done yet it does not do."""
        with contextlib.suppress(Exception):
            self._client.close()


def safe_address(address: str) -> str:
    """The address as Dask is to be given it, where it speaks TLS or is one that only this machine reaches.

    Raises:
        GradingError: anybody could take part there, or it is no address; the message says what to give instead.
    """
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        host, port = parts.hostname or "", parts.port or 8786
    except ValueError:
        host, port = "", 0
    if not host or parts.scheme not in ("tcp", "tls") or parts.path.strip("/") or parts.query or parts.username:
        raise GradingError(f"{address} is no address for --dask: {_INSTEAD}.")
    if parts.scheme == "tls":
        return f"tls://{_bracketed(host)}:{port}"
    # Dask is given what was looked at: the same name might stand for another machine a moment later.
    with contextlib.suppress(OSError, UnicodeError):
        found = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        if found and all(ipaddress.ip_address(each).is_loopback for each in found):
            return f"tcp://{_bracketed(found[0])}:{port}"
    raise GradingError(f"{address} is not of this machine alone, and its traffic is open to all: {_INSTEAD}.")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _ready() -> tuple[str, str]:
    """In a worker: which version it has, and why it has no sandbox."""
    import classroom.grade.work  # noqa: F401  (so that the first job need not wait for torch)
    from classroom.sandbox import protection

    return code_digest(), protection().refusal
