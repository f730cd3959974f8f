"""Where a kernel listens."""

from __future__ import annotations

import os
import tempfile
import uuid

from traitlets.config import Config

# A socket's path is limited to about 100 characters, so its names are short.
_FOLDER = tempfile.TemporaryDirectory(prefix="fx-")


def own_socket() -> Config:
    """Configure a kernel to listen on files: a TCP port that was free may be taken before a kernel binds it."""
    if os.name != "posix":
        return Config()
    return Config(KernelManager={"transport": "ipc", "ip": f"{_FOLDER.name}/{uuid.uuid4().hex[:8]}"})
