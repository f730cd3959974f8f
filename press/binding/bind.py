"""Bind the committed notebooks into HTML, without executing any: Jupyter Book with every warning an error."""

from __future__ import annotations

import functools
import http.server
import shutil
import subprocess
import sysconfig
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
    jupyter_book = shutil.which("jupyter-book", path=sysconfig.get_path("scripts"))
    if jupyter_book is None:
        raise FileNotFoundError("jupyter-book is not installed beside this Python: run `python -m press book`")
    command = [jupyter_book, "build", str(ROOT), "-n", "-W", "--keep-going", "-q", "--path-output", str(target)]
    try:
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    except subprocess.CalledProcessError:
        # Sphinx would not read the pages it has warned of again, and the next build would pass.
        shutil.rmtree(target / "_build" / ".doctrees", ignore_errors=True)
        raise
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
