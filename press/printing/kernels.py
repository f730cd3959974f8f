"""Where a kernel listens."""

from __future__ import annotations

import functools
import os
import tempfile
import uuid

from traitlets.config import Config


def own_socket() -> Config:
    """Configure a kernel to listen on files: a TCP port that was free may be taken before a kernel binds it."""
    if os.name != "posix":
        return Config()
    return Config(KernelManager={"transport": "ipc", "ip": f"{_folder().name}/{uuid.uuid4().hex[:8]}"})


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    # A socket's path is limited to about 100 characters, so its names are short.
    return tempfile.TemporaryDirectory(prefix="fx-")
