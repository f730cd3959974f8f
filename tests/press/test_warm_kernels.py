"""A warm kernel behaves like a cold one, and ends with its parent."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import nbval.kernel
import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

from press.printing import warm
from press.printing.kernels import own_socket

pytestmark = pytest.mark.skipif(not warm.AVAILABLE, reason="there is no fork here: kernels start cold")

# What a notebook can see of its process before it imports anything.
SURROUNDINGS = """
import os, sys
print(os.getcwd(), sys.path, sys.argv[0].endswith("launcher.py") or sys.argv[0], __name__, os.environ["FX_TEST"],
      "fxbook" in sys.modules, "press" in sys.modules)
"""


@pytest.fixture(scope="module")
def kernels() -> Iterator[warm.WarmKernels]:
    kernels = warm.WarmKernels()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JUPYTER_PATH", kernels.jupyter_path)
        kernels.start()
        yield kernels
    kernels.stop()


def run(client: BlockingKernelClient, source: str) -> str:
    written: list[str] = []

    def keep(message: dict) -> None:
        written.append(message["content"].get("text", ""))

    client.execute_interactive(source, output_hook=keep)
    return "".join(written)


def started(name: str, folder: Path) -> tuple[KernelManager, BlockingKernelClient, int]:
    manager = KernelManager(kernel_name=name, config=own_socket())
    manager.start_kernel(cwd=str(folder), env={**os.environ, "FX_TEST": "here"})
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(600)  # 600 seconds are enough on any machine.
    return manager, client, int(run(client, "import os; print(os.getpid())"))


def wait_for_end(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.kill(process, 0)
            time.sleep(0.05)


def test_a_warm_kernel_sees_what_a_cold_one_sees(kernels: warm.WarmKernels, tmp_path: Path) -> None:
    seen = {}
    for name in (warm.NAME, "python3"):
        manager, client, _ = started(name, tmp_path)
        seen[name] = run(client, SURROUNDINGS).replace("ipykernel_launcher", "True")
        if name == warm.NAME:
            assert run(client, "import sys; print('torch' in sys.modules)") == "True\n"
        client.stop_channels()
        manager.shutdown_kernel()
    assert str(tmp_path) in seen[warm.NAME]
    assert seen[warm.NAME] == seen["python3"]


def test_each_kernel_listens_on_files_of_its_own() -> None:
    managers = [KernelManager(config=own_socket()), nbval.kernel.KernelManager(), nbval.kernel.KernelManager()]
    assert {manager.transport for manager in managers} == {"ipc"}
    assert len({manager.ip for manager in managers}) == 3


def test_kernels_share_nothing(kernels: warm.WarmKernels, tmp_path: Path) -> None:
    first, second = started(warm.NAME, tmp_path), started(warm.NAME, tmp_path)
    run(first[1], "import torch; torch.planted = 1; planted = 1")
    assert run(second[1], "import torch; print(hasattr(torch, 'planted'), 'planted' in globals())") == "False False\n"
    for manager, client, _ in (first, second):
        client.stop_channels()
        manager.shutdown_kernel()


def test_the_tests_of_notebooks_run_in_warm_kernels(pytestconfig: pytest.Config) -> None:
    chosen = pytestconfig.getoption("nbval_kernel_name")
    assert chosen == warm.NAME or "--nbval-kernel-name" in " ".join(pytestconfig.invocation_params.args)


@pytest.mark.parametrize("how", ["on request", "killed", "with the server"])  # Last, because it stops the server.
def test_a_kernel_ends_with_its_stub_and_with_the_server(kernels: warm.WarmKernels, tmp_path: Path, how: str) -> None:
    manager, client, kernel = started(warm.NAME, tmp_path)
    if how == "with the server":
        kernels.stop()
    client.stop_channels()
    manager.shutdown_kernel(now=how == "killed")
    wait_for_end(kernel)
