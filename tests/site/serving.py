"""Serve pages over HTTP on loopback, as a host would."""

from __future__ import annotations

import contextlib
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

from press.binding.serving import Host


class _Host(Host):
    """Serves a folder below a path."""

    def __init__(self, *args: object, below: str, **settings: object) -> None:
        self.below = below
        super().__init__(*args, **settings)

    def translate_path(self, path: str) -> str:
        inside = path.removeprefix(self.below) if path.startswith(self.below) else "/nothing"
        return super().translate_path(inside)

    def log_message(self, *_: object) -> None:
        """Say nothing: pytest shows what failed."""


@contextlib.contextmanager
def served(folder: Path, below: str = "/", port: int = 0) -> Iterator[str]:
    """Serve a folder below a path that ends with a slash, and yield the address."""
    handler = functools.partial(_Host, directory=str(folder), below=below.removesuffix("/"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{below}"
        server.shutdown()
