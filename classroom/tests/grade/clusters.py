"""A Dask cluster on the loopback address, for tests: a scheduler and its workers, each a process of its own."""

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
    # A submission that kills its worker is tried on two workers, not four.
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    "PYTHONPATH": str(ROOT),
}
# Nothing that works takes as long, however slow the machine.
_LONGEST_SECONDS = 600
# Without these Dask takes work, and shows itself, on every address that the machine has.
ALONE = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A scheduler and its workers."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


def clusters(folder: Path) -> Iterator[Callable[..., Cluster]]:
    """For a fixture: starts a scheduler and so many workers, and waits until they are there; all end with the fixture.

    What it is called with besides are arguments of ``dask worker``. With ``protocol="tls"`` the settings of Dask, here
    and in the folder that ``DASK_CONFIG`` names, have to name certificates.
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
        # The workers read the code as it is now; whoever runs the tests may be writing it.
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
        # A nanny and its worker are one group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
