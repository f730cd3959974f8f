"""Bind the committed notebooks into HTML, without executing any: Jupyter Book with every warning an error."""

from __future__ import annotations

import functools
import http.server
import subprocess
import sys
from pathlib import Path

from press import ROOT

BUILD = ROOT / "_build"


def build(target: Path = ROOT) -> Path:
    """Build the book into ``target/_build/html``.

    Returns:
        The page to open.

    Raises:
        subprocess.CalledProcessError: Sphinx warned or failed; it has printed why.
    """
    command = [sys.executable, "-m", "jupyter_book", "build", str(ROOT), "-n", "-W", "--keep-going", "-q"]
    subprocess.run([*command, "--path-output", str(target)], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return target / "_build" / "html" / "index.html"


def serve(port: int = 8000) -> None:
    """Serve the built book on the loopback address until interrupted."""
    page = build()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(page.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"The book is at http://127.0.0.1:{server.server_port}/ (stop with Ctrl+C)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
