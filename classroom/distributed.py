"""Grade on the workers of a Dask cluster. Dask sends and computes; each worker keeps a sandbox of its own.

Dask hands a task again to another worker when one dies, up to its ``allowed-failures``, and computes results again that
a dead worker held: grading a student twice gives the same marks, and a row is kept once.
"""

from __future__ import annotations

import contextlib
from concurrent.futures import Executor

from classroom.gradebook import code_digest
from classroom.grading import GradingError

_WAIT_SECONDS = 30


class DaskWorkers:
    """The workers of a scheduler.

    Args:
        address: of the scheduler, ``tcp://127.0.0.1:8786``.
        trusted: they are to run the code of students without a sandbox.

    Raises:
        GradingError: Dask is not installed, nobody answers at the address, or a worker there cannot grade.
    """

    def __init__(self, address: str, *, trusted: bool = False) -> None:
        try:
            from dask.distributed import Client, KilledWorker
        except ImportError:
            raise GradingError("--dask needs Dask: pip install 'torch-fx-node-by-node[classroom]'") from None
        self.died: tuple[type[BaseException], ...] = (KilledWorker,)
        self._address = address
        try:
            self._client = Client(address, timeout=_WAIT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise GradingError(f"No scheduler of Dask answers at {address} ({error}).") from None
        try:
            self.at_once = self._checked(trusted)
        except BaseException:
            self.stop()
            raise

    def _checked(self, trusted: bool) -> int:
        """How many jobs to hand over at once to workers that can all do them."""
        try:
            self._client.wait_for_workers(1, timeout=_WAIT_SECONDS)
            told = self._client.run(_ready)
        except TimeoutError:
            raise GradingError(f"The scheduler at {self._address} has no worker: start one, `dask worker …`.") from None
        except Exception as error:
            raise GradingError(
                f"A worker of {self._address} cannot grade ({type(error).__name__}: {error}): install the book there "
                "too, with the same packages as here."
            ) from None
        for worker, (version, refusal) in told.items():
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
    import classroom.work  # noqa: F401  (so that the first job need not wait for torch)
    from classroom.sandbox import protection

    return code_digest(), protection().refusal
