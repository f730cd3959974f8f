"""Warm kernels: one process imports torch and IPython once and forks a kernel for each notebook.

A cold kernel spends seconds on imports and milliseconds on the cells. Jupyter starts a kernel by a command, so the
kernel specification names a small program, the :mod:`stub <press.printing.warm.stub>`, that asks the :mod:`server
<press.printing.warm.server>` for a fork and stands in for it: when the stub is stopped, so is the kernel.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

NAME = "warm"
AVAILABLE = hasattr(os, "fork")
_FOLDER = Path(__file__).parent


class WarmKernels:
    """The kernel specification ``warm`` and its server, which starts with the first kernel.

    ``python`` is the interpreter of the kernels, by default that of this process.
    """

    def __init__(self, python: Path | str = sys.executable) -> None:
        self._python = str(python)
        # A socket's path is limited to about 100 characters, so it gets a folder with a short name.
        self._folder = tempfile.TemporaryDirectory(prefix="fx-")
        self._socket = Path(self._folder.name) / "s"
        self._server: subprocess.Popen[str] | None = None
        specification = Path(self._folder.name) / "kernels" / NAME / "kernel.json"
        specification.parent.mkdir(parents=True)
        # -S -E -I: the stub uses only the standard library, and starts in hundredths of a second.
        stub = [self._python, "-S", "-E", "-I", str(_FOLDER / "stub.py"), str(self._socket), "{connection_file}"]
        specification.write_text(
            json.dumps({"argv": stub, "display_name": "Python 3 (warm)", "language": "python"}), encoding="utf-8"
        )

    @property
    def jupyter_path(self) -> str:
        return self._folder.name

    def start(self) -> None:
        """Start the server if it is not running, and wait until it can fork; raises RuntimeError if it ends."""
        if self._server and self._server.poll() is None:
            return
        command = [self._python, str(_FOLDER / "server.py"), str(self._socket)]
        self._server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        assert self._server.stdout
        if self._server.stdout.readline() != "ready\n":
            raise RuntimeError(
                "The warm kernels did not start; `pytest --nbval-kernel-name=python3` works without them."
            )

    def stop(self) -> None:
        if self._server:
            self._server.kill()
            with self._server:  # Waits for the server, and closes its pipe.
                self._server = None
        self._folder.cleanup()
