"""Serve a built book on the loopback address as a host would, with its own page for missing files."""

from __future__ import annotations

import http.server
from pathlib import Path


class Host(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, with its 404.html for missing files."""

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
        if self.command != "HEAD":
            self.wfile.write(body)
