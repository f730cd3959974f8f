"""Grade on a Dask cluster. Dask distributes the jobs; each worker has its own sandbox.

If a worker dies, Dask gives its tasks to another, up to ``allowed-failures`` times, and recomputes the results it held.
Grading a student twice gives the same marks, and each row is kept once.

Anybody who can reach a worker can run code on it, because Dask authenticates clients only with certificates. So the
address must be on this machine, or use TLS as configured in Dask's ``distributed.comm.tls``.
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
_INSTEAD = "use tls://HOST:8786, or an SSH tunnel to tcp://127.0.0.1:8786; the guide for teachers has the commands"


class DaskWorkers:
    """The workers of a Dask scheduler.

    Args:
        address: the scheduler's address, ``tcp://127.0.0.1:8786`` or ``tls://HOST:8786``.
        trusted: allow workers that can only run students' code without a sandbox.

    Raises:
        GradingError: strangers could connect, Dask is missing, the scheduler does not answer, or a worker cannot grade.
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
            raise GradingError(f"No Dask scheduler answers at {self._address} ({error}).") from None
        try:
            self.at_once = self._checked(trusted)
        except BaseException:
            self.stop()
            raise

    def _checked(self, trusted: bool) -> int:
        """Check that every worker can grade, and return how many jobs to submit at once."""
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
                f"A worker at {self._address} cannot grade anything ({type(error).__name__}: {error}): install the "
                "book there too, with the same packages as here."
            ) from None
        for worker, (version, refusal) in states.items():
            if version != code_digest():
                raise GradingError(f"The worker {worker} has a different version of the book or of torch from yours.")
            if refusal and not trusted:
                raise GradingError(f"The worker {worker} cannot run submissions safely: {refusal}")
        return 4 * max(1, sum(self._client.nthreads().values()))

    def start(self) -> Executor:
        """Dask's executor, which replaces workers by itself."""
        return self._client.get_executor(pure=False)

    def stop(self) -> None:
        with contextlib.suppress(Exception):
            self._client.close()


def safe_address(address: str) -> str:
    """Check that the address uses TLS or is on this machine, and return it in the form that Dask takes.

    Raises:
        GradingError: strangers could connect, or this is not an address; the message says what to use instead.
    """
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        host, port = parts.hostname or "", parts.port or 8786
    except ValueError:
        host, port = "", 0
    if not host or parts.scheme not in ("tcp", "tls") or parts.path.strip("/") or parts.query or parts.username:
        raise GradingError(f"{address} is not an address for --dask: {_INSTEAD}.")
    if parts.scheme == "tls":
        return f"tls://{_bracketed(host)}:{port}"
    # Return the resolved address: the name could resolve to another machine a moment later.
    with contextlib.suppress(OSError, UnicodeError):
        found = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        if found and all(ipaddress.ip_address(each).is_loopback for each in found):
            return f"tcp://{_bracketed(found[0])}:{port}"
    raise GradingError(f"{address} is reachable from other machines, and its traffic is not encrypted: {_INSTEAD}.")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _ready() -> tuple[str, str]:
    """Runs in the worker; returns its digest of the code and why it has no sandbox (``""`` if it has one)."""
    import classroom.grade.work  # noqa: F401  (so that the first job need not wait for torch)
    from classroom.sandbox import protection

    return code_digest(), protection().refusal
