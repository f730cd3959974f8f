"""A pytest plugin: nbval's kernels start warm, know their notebook, and use the seed of the generated reports.

``pytest --nbval-kernel-name=python3`` starts them cold.
"""

from __future__ import annotations

import os
import re
from typing import Any

import nbval.kernel
import pytest
from jupyter_client.manager import KernelManager
from xdist.scheduler import LoadFileScheduling

from fxbook.checking import SEED_VARIABLE
from press.printing import warm
from press.printing.execution import NOTEBOOK_SEED, NOTEBOOK_VARIABLE
from press.printing.kernels import own_socket

_KERNELS = pytest.StashKey[warm.WarmKernels]()


def pytest_configure(config: pytest.Config) -> None:
    nbval.kernel.KernelManager = lambda **more: KernelManager(config=own_socket(), **more)
    os.environ.setdefault(SEED_VARIABLE, str(NOTEBOOK_SEED))
    if warm.AVAILABLE and not config.getoption("nbval_kernel_name", None):
        kernels = config.stash[_KERNELS] = warm.WarmKernels()
        config.option.nbval_kernel_name = warm.NAME
        os.environ["JUPYTER_PATH"] = os.pathsep.join(
            [kernels.jupyter_path, *filter(None, [os.environ.get("JUPYTER_PATH")])]
        )


def pytest_unconfigure(config: pytest.Config) -> None:
    if kernels := config.stash.get(_KERNELS, None):
        kernels.stop()


class _ByFileAndChapter(LoadFileScheduling):
    """Keeps a notebook or a file of tests on one worker; tests of exercises are also divided by chapter.

    The tests that read the built pages stay together, since parsing all pages takes longer than testing them.
    """

    def _split_scope(self, nodeid: str) -> str:
        scope = super()._split_scope(nodeid)
        if scope.startswith("tests/site/") and "browser" not in scope:
            return "tests/site"
        chapter = re.search(r"\[([0-9P]\d)-", nodeid)
        return scope + (chapter[1] if chapter else "")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return _ByFileAndChapter(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before nbval starts a notebook's kernel: set the notebook's environment variable, and start the server."""
    if item.path.suffix != ".ipynb":
        os.environ.pop(NOTEBOOK_VARIABLE, None)
        return
    os.environ[NOTEBOOK_VARIABLE] = str(item.path)
    if kernels := item.config.stash.get(_KERNELS, None):
        kernels.start()
