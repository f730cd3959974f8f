"""The command that checks external links: what it collects, what it reports, and what it does offline."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from press.binding import links

GONE, WELL = "https://example.org/gone", "https://example.org/well?a=1&b=2#part"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Two pages with links of all kinds."""
    (tmp_path / "part").mkdir()
    (tmp_path / "one.html").write_text(
        f'<a class="x" href="{WELL.replace("&", "&amp;")}">a</a> <a href="part/two.html#b">b</a>'
        f'<a href="{GONE}">c</a><link href="https://example.org/canonical"><a href="http://127.0.0.1:8000/">d</a>'
    )
    (tmp_path / "part/two.html").write_text(f"<p><a\nhref='#x'>e</a><a href=\"{GONE}\">f</a></p>")
    return tmp_path


def test_each_outer_address_is_collected_once_with_its_pages(book: Path) -> None:
    assert links.collected(book) == {GONE: ["one.html", "part/two.html"], WELL: ["one.html"]}


def test_a_dead_link_is_named_with_its_pages(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = {GONE: ("broken", "404 Client Error"), WELL: ("redirected", "https://example.org/better")}
    assert links.check(book, lambda: True, lambda _: answers) == 1
    output = capsys.readouterr().out
    assert f"broken: {GONE}\n  404 Client Error\n  on one.html, part/two.html" in output
    assert f"moved: {WELL}\n  to https://example.org/better" in output and "1 of 2 addresses" in output


def test_an_unchecked_address_is_no_success(book: Path) -> None:
    assert links.check(book, lambda: True, lambda _: {WELL: ("working", "")}) == 1
    assert links.check(book, lambda: True, lambda addresses: dict.fromkeys(addresses, ("working", ""))) == 0


def test_without_a_network_it_says_so_and_checks_nothing(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert links.check(book, lambda: False, lambda _: pytest.fail("checked")) == 2
    assert "No network: none of the 2 addresses was checked." in capsys.readouterr().err


class _Host(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        there = self.path.startswith("/there")
        self.send_response(200 if there else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b'<html><body><p id="part">x</p></body></html>' if there else b"")

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def host() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Host) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_sphinx_checks_pages_and_anchors(host: str) -> None:
    results = links.sphinx_results([f"{host}/there", f"{host}/there#part", f"{host}/there#nothing", f"{host}/gone"])
    assert {address.removeprefix(host): status for address, (status, _) in results.items()} == {
        "/there": "working",
        "/there#part": "working",
        "/there#nothing": "broken",
        "/gone": "broken",
    }
