"""Pages over HTTP on loopback, as a host would serve them."""

from __future__ import annotations

import contextlib
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path


class _Host(http.server.SimpleHTTPRequestHandler):
    """Serves a folder below a path, and its own page where there is nothing."""

    def __init__(self, *args: object, below: str, **settings: object) -> None:
        self.below = below
        super().__init__(*args, **settings)

    def translate_path(self, path: str) -> str:
        inside = path.removeprefix(self.below) if path.startswith(self.below) else "/nothing"
        return super().translate_path(inside)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        page = Path(self.directory) / "404.html"
        if code != 404 or not page.is_file():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: pytest shows what failed."""


@contextlib.contextmanager
def served(folder: Path, below: str = "/", port: int = 0) -> Iterator[str]:
    """Serve a folder below a path that ends with a slash; gives its address."""
    handler = functools.partial(_Host, directory=str(folder), below=below.removesuffix("/"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{below}"
        server.shutdown()
