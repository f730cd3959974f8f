"""A Dask scheduler and workers on the loopback address, each in its own process."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dask.distributed import Client

from classroom.grade import gradebook
from press import ROOT

_SETTINGS = {
    # Try a submission that kills its worker on two workers, not four.
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    "PYTHONPATH": str(ROOT),
}
# More than enough on any machine.
_LONGEST_SECONDS = 600
# By default, Dask accepts work and shows its dashboard on every address of the machine.
ALONE = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")


@dataclasses.dataclass(frozen=True)
class Cluster:
    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


def clusters(folder: Path) -> Iterator[Callable[..., Cluster]]:
    """For a fixture: a function that starts a scheduler and workers and waits for them; they end with the fixture.

    Further arguments go to ``dask worker``. With ``protocol="tls"``, Dask's configuration must name certificates, both
    here and in the folder that ``DASK_CONFIG`` names.
    """
    started: list[subprocess.Popen[bytes]] = []

    def start(kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments, *ALONE]
        environment = {**os.environ, **_SETTINGS}
        with (folder / f"{kind}-{len(started)}.txt").open("wb") as log:
            options: Any = {"cwd": folder, "env": environment, "stdout": log, "stderr": log}
            started.append(subprocess.Popen(command, start_new_session=True, **options))
        return started[-1]

    def make(count: int, *arguments: str, protocol: str = "tcp") -> Cluster:
        # The workers read the current code, which may have changed since the digest was cached.
        gradebook.code_digest.cache_clear()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        address = f"{protocol}://127.0.0.1:{port}"
        scheduler = start("scheduler", "--protocol", protocol, "--port", str(port))
        workers = [start("worker", address, "--nthreads", "1", *arguments) for _ in range(count)]
        with Client(address, timeout=_LONGEST_SECONDS, set_as_default=False) as client:
            if count:
                client.wait_for_workers(count, timeout=_LONGEST_SECONDS)
        return Cluster(address, scheduler, workers)

    yield make
    for process in reversed(started):
        # A nanny and its worker are one process group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
