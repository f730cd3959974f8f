"""Grade on the workers of a Dask cluster. Dask sends and computes; each worker keeps a sandbox of its own.

Dask hands a task again to another worker when one dies, up to its ``allowed-failures``, and computes results again that
a dead worker held: grading a student twice gives the same marks, and a row is kept once.

Nothing of a class is sent before it is known that strangers cannot take part: see
:mod:`classroom.grade.cluster.strangers`. A worker that comes later is not looked at.
"""

from __future__ import annotations

import contextlib
from concurrent.futures import Executor
from pathlib import Path

from classroom.grade.cluster import certificates, strangers
from classroom.grade.gradebook import code_digest
from classroom.grade.grading import GradingError

_WAIT_SECONDS = 30


class DaskWorkers:
    """The workers of a scheduler.

    Args:
        address: of the scheduler, ``tcp://127.0.0.1:8786`` or ``tls://HOST:8786``.
        tls: the folder of certificates for the latter; see :mod:`classroom.grade.cluster.certificates`.
        trusted: they are to run the code of students without a sandbox.

    Raises:
        GradingError: strangers could take part, Dask is not installed, nobody answers at the address, or a worker there
            cannot grade.
    """

    def __init__(self, address: str, *, tls: Path | None = None, trusted: bool = False) -> None:
        self._address = strangers.safe_address(address, certificates=tls is not None)
        try:
            from dask.distributed import Client, KilledWorker
        except ImportError:
            raise GradingError("--dask needs Dask: .venv/bin/pip install -r classroom/requirements.txt") from None
        self.died: tuple[type[BaseException], ...] = (KilledWorker,)
        security = certificates.security(tls) if tls else None
        try:
            self._client = Client(self._address, timeout=_WAIT_SECONDS, set_as_default=False, security=security)
        except (OSError, ValueError, RuntimeError) as error:
            raise GradingError(f"No scheduler of Dask answers at {self._address} ({error}).") from None
        try:
            self._keep_strangers_out()
            self.at_once = self._checked(trusted)
        except BaseException:
            self.stop()
            raise

    def _keep_strangers_out(self) -> None:
        """Ask each process of the cluster on what it listens."""
        try:
            self._client.wait_for_workers(1, timeout=_WAIT_SECONDS)
            at = f"at {self._address}"
            doors_of = {f"The scheduler {at}": self._client.run_on_scheduler(strangers.doors)}
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
            doors_of |= {f"The worker {name}": doors for name, doors in self._client.run(strangers.doors).items()}
            watched = [name for name, about in workers.items() if about["nanny"]]
            if watched:
                nannies = self._client.run(strangers.doors, workers=watched, nanny=True)
                doors_of |= {f"The nanny of {name}": doors for name, doors in nannies.items()}
        except TimeoutError:
            raise GradingError(f"The scheduler at {self._address} has no worker: start one, `dask worker …`.") from None
        except Exception as error:
            raise GradingError(
                f"The cluster {at} does not tell on what it listens ({type(error).__name__}: {error}): install the "
                "book there too, for the scheduler as for the workers, with the same packages as here."
            ) from None
        for who, doors in doors_of.items():
            strangers.check_doors(who, doors)

    def _checked(self, trusted: bool) -> int:
        """How many jobs to hand over at once to workers that can all do them."""
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


def _ready() -> tuple[str, str]:
    """In a worker: which version it has, and why it has no sandbox."""
    import classroom.grade.work  # noqa: F401  (so that the first job need not wait for torch)
    from classroom.sandbox import protection

    return code_digest(), protection().refusal
