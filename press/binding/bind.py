"""Bind the committed notebooks into HTML, without executing any: Jupyter Book with every warning an error."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import itertools
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from press import ROOT

BUILD = ROOT / "_build"
# `press` first: what it takes care of before notebooks are read holds there, too.
# It waits for a line before it begins, so that its imports can run beside something else.
_JUPYTER_BOOK = """
import sys
import press
import jupyter_book.sphinx, myst_nb, sphinx_book_theme
from jupyter_book.cli.main import main
sys.stdin.readline()
sys.exit(main())
"""
# What Sphinx says of each page: "reading sources... [ 50%] chapters/intro", in colours.
_PAGE = re.compile(r"(?P<step>reading sources|writing output)\.\.\. .*\[ *\d+%\]")
_STEPS = {"reading sources": "read", "writing output": "written"}


def build(target: Path = ROOT) -> Path:
    """Build the book into ``target/_build/html``, and print a line for each step; what is as it was is left as it is.

    Returns:
        The page to open.

    Raises:
        subprocess.CalledProcessError: Sphinx warned or failed; it has printed why.
    """
    return finish(prepare(target), target)


def prepare(target: Path = ROOT) -> subprocess.Popen[str]:
    """Start what builds the book, as far as it goes before it reads a page; ends unused when it is killed."""
    if importlib.util.find_spec("jupyter_book") is None:
        raise ModuleNotFoundError("jupyter-book is not installed beside this Python: run `python -m press book`")
    command = [sys.executable, "-u", "-c", _JUPYTER_BOOK, "build", str(ROOT)]
    command += ["-n", "-W", "--keep-going", "--path-output", str(target)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True, encoding="utf-8")


def finish(process: subprocess.Popen[str], target: Path = ROOT) -> Path:
    """Let what :func:`prepare` started build the book; takes, returns and raises as :func:`build`."""
    with process:
        assert process.stdin and process.stdout
        process.stdin.write("\n")
        process.stdin.flush()
        _tell_steps(process.stdout)
    if process.returncode:
        # Sphinx would not read the pages it has warned of again, and the next build would pass.
        shutil.rmtree(target / "_build" / ".doctrees", ignore_errors=True)
        raise subprocess.CalledProcessError(process.returncode, "jupyter-book")
    return target / "_build" / "html" / "index.html"


def _tell_steps(lines: Iterable[str]) -> None:
    """Print how many pages each step of Sphinx was about, and how long it took."""
    step, pages, begun = "", 0, time.monotonic()
    for line in itertools.chain(lines, [""]):
        page = _PAGE.search(line)
        now = _STEPS[page["step"]] if page else ""
        if now != step:
            if step:
                print(
                    f"{pages} {'page' if pages == 1 else 'pages'} {step} ({time.monotonic() - begun:.1f} s)", flush=True
                )
            step, pages, begun = now, 0, time.monotonic()
        pages += bool(now)


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
