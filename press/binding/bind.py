"""Build the HTML from the committed notebooks, without executing any: Jupyter Book with every warning an error."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from press import ROOT
from press.binding import fingerprint, serving

BUILD = ROOT / "_build"
HTML, DOCTREES, KEPT = (f"_build/{name}" for name in ("html", ".doctrees", ".fingerprint.json"))
# `press` is imported first, since it blocks a slow import. The process waits for a line before it builds, so that its
# imports can run in parallel with something else.
_JUPYTER_BOOK = """
import functools, sys
import press
import jupyter_book.sphinx, myst_nb, sphinx_book_theme
from jupyter_book.cli.main import main
# The command has no option for the number of jobs.
jupyter_book.sphinx.build_sphinx = functools.partial(jupyter_book.sphinx.build_sphinx, jobs=int(sys.argv.pop(1)))
sys.stdin.readline()
sys.exit(main())
"""
# The output of Sphinx, in colours: "updating environment: 55 added, 1 changed, 0 removed", then for each page, or for
# some of them if several processes share the work, "reading sources... [ 50%] chapters/intro".
_COUNT = re.compile(r"updating environment: .*?(\d+) added, (\d+) changed")
_STEP = re.compile(r"(reading sources|writing output)\.\.\. .*\[ *\d+%\]")


def build(target: Path = ROOT) -> Path:
    """Build the book into ``target/_build/html``, incrementally; print a line for each step; return the first page.

    Raises subprocess.CalledProcessError if Sphinx, which prints why, warned or failed.
    """
    built = fingerprint.kept(target / KEPT)
    begun = time.monotonic()
    if built and built == {**fingerprint.of_sources(), "site": fingerprint.of_site(target / HTML)}:
        print(f"Nothing has changed since the book was built ({time.monotonic() - begun:.1f} s)", flush=True)
        return target / HTML / "index.html"
    return finish(prepare(target), target)


def prepare(target: Path = ROOT) -> subprocess.Popen[str]:
    """Start the process that builds the book; it imports what it needs, then waits. It may be killed unused."""
    if importlib.util.find_spec("jupyter_book") is None:
        raise ModuleNotFoundError("jupyter-book is not installed for this Python: run `python -m press book`")
    jobs = os.cpu_count() or 1
    command = [sys.executable, "-u", "-c", _JUPYTER_BOOK, str(jobs), "build", str(ROOT)]
    command += ["-n", "-W", "--keep-going", "--path-output", str(target)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True, encoding="utf-8")


def finish(process: subprocess.Popen[str], target: Path = ROOT) -> Path:
    """Let the process from :func:`prepare` build the book; otherwise like :func:`build`."""
    sources = fingerprint.of_sources()
    if fingerprint.kept(target / KEPT).get("machinery") != sources["machinery"]:
        shutil.rmtree(target / DOCTREES, ignore_errors=True)
    (target / KEPT).unlink(missing_ok=True)
    with process:
        assert process.stdin and process.stdout
        process.stdin.write("\n")
        process.stdin.flush()
        _print_steps(process.stdout)
    if process.returncode:
        # Otherwise, Sphinx would skip the pages that it warned about, and the next build would pass.
        shutil.rmtree(target / DOCTREES, ignore_errors=True)
        raise subprocess.CalledProcessError(process.returncode, "jupyter-book")
    fingerprint.keep(target / KEPT, sources, target / HTML)
    return target / HTML / "index.html"


def _print_steps(lines: Iterable[str]) -> None:
    step, pages, begun = "", 0, time.monotonic()
    for line in itertools.chain(lines, [""]):
        if count := _COUNT.search(line):
            pages = sum(map(int, count.groups()))
        found = _STEP.search(line)
        now = found[1] if found else ""
        if now != step:
            if step:
                done = f"{pages} {'page' if pages == 1 else 'pages'} read" if step == "reading sources" else "Written"
                print(f"{done} ({time.monotonic() - begun:.1f} s)", flush=True)
            step, begun = now, time.monotonic()


def serve(port: int = 8000) -> None:
    page = build()
    handler = functools.partial(serving.Host, directory=str(page.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"The book is at http://127.0.0.1:{server.server_port}/ (stop with Ctrl+C)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
