"""Check every link that leads out of the book, with Sphinx's own link checker."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from html import unescape
from pathlib import Path

_LINK = re.compile(r'<a\b[^>]*?\bhref="(https?://[^"]+)"')
_LOOPBACK = ("http://127.", "http://localhost")
# The host that the pages link to most; without it, nothing can be checked.
_HOST = ("docs.pytorch.org", 443)
_SETTINGS = """\
project = "links"
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_workers = 8
linkcheck_anchors = True
# GitHub makes the anchors of lines with a script.
linkcheck_anchors_ignore_for_url = [r"https://github\\.com/.*"]
"""


def collected(book: Path) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for page in sorted(book.rglob("*.html")):
        for address in map(unescape, _LINK.findall(page.read_text(encoding="utf-8"))):
            if not address.startswith(_LOOPBACK):
                found.setdefault(address, set()).add(str(page.relative_to(book)))
    return {address: sorted(pages) for address, pages in sorted(found.items())}


def reachable(host: tuple[str, int] = _HOST, seconds: float = 5) -> bool:
    try:
        with socket.create_connection(host, seconds):
            return True
    except OSError:
        return False


def sphinx_results(addresses: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Sphinx's result for each address: ``("working", "")``, ``("broken", "404 …")``, ``("redirected", "https://…")``."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        (source / "conf.py").write_text(_SETTINGS, encoding="utf-8")
        listed = "\n".join(f"* `{number} <{address}>`__" for number, address in enumerate(addresses))
        (source / "index.rst").write_text(f"Links\n=====\n\n{listed}\n", encoding="utf-8")
        command = [sys.executable, "-m", "sphinx", "-q", "-b", "linkcheck", str(source), str(source / "out")]
        subprocess.run(command, stdout=subprocess.DEVNULL)
        output = (source / "out" / "output.json").read_text(encoding="utf-8")
    answers = [json.loads(line) for line in output.splitlines()]
    return {answer["uri"]: (answer["status"], answer["info"]) for answer in answers}


def check(
    book: Path,
    online: Callable[[], bool] = reachable,
    ask: Callable[[Iterable[str]], dict[str, tuple[str, str]]] = sphinx_results,
) -> int:
    """Check the links of the built book and print the broken ones.

    Returns:
        The exit status: 0 if all work, 1 if some are broken, 2 if nothing could be checked.
    """
    links = collected(book)
    if not online():
        print(
            f"No network: none of the {len(links)} addresses was checked. Run this again where "
            f"{_HOST[0]} can be reached.",
            file=sys.stderr,
        )
        return 2
    print(f"Checking {len(links)} addresses …", flush=True)
    answers = ask(links)
    broken = 0
    for address, pages in links.items():
        status, info = answers.get(address, ("unchecked", ""))
        if status in ("broken", "timeout", "unchecked"):
            broken += 1
            print(f"{status}: {address}\n  {info}\n  on {', '.join(pages[:5])}{' …' if len(pages) > 5 else ''}")
        elif status == "redirected":
            print(f"moved: {address}\n  to {info}")
    print(f"{len(links) - broken} of {len(links)} addresses work.")
    return 1 if broken else 0
