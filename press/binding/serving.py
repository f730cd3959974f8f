"""Serve a built book on the loopback address as a host would: where there is nothing, with the book's own page."""

from __future__ import annotations

import http.server
from pathlib import Path


class Host(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and its page 404.html where there is nothing."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send the book's own page for an address that leads nowhere."""
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
