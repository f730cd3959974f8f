"""In Chromium, reports run nothing, fetch nothing and inject nothing.

They are readable in light and dark mode, on a phone and on paper.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request

from classroom import reports
from classroom.grade.records import Mark
from classroom.tests.marks import an_assignment, mark, marks_of
from tests.browsing import needs_chromium

pytestmark = needs_chromium

AXE = {"resultTypes": ["violations"], "preload": False}
PAYLOADS = (
    "<script>window.ran = 1</script>",
    "</title></style></script><script>window.ran = 1</script>",
    "</svg></desc></title><img src=x onerror=window.ran=1>",
    "</desc><foreignObject><iframe srcdoc='<script>parent.ran=1</script>'></iframe></foreignObject>",
    '" onmouseover="window.ran=1" autofocus onfocus="window.ran=1" x="',
    "' onclick='window.ran=1' x='",
    "<svg onload=window.ran=1>",
    "<a href='javascript:window.ran=1'>here</a>",
    "javascript:window.ran=1",
    "<base href=//evil.example><link rel=stylesheet href=//evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<form action=//evil.example><button autofocus>press</button></form>",
    "--><!--<img src=//evil.example/x>",
    "]]><image href='//evil.example/x'/>",
    "{{ 7 * 7 }}{% include 'class.html.jinja' %}{# x #}",
    "&lt;script&gt;window.ran=1&lt;/script&gt;&#60;script>",
    "<style>*{background:url(//evil.example)}</style>",
    "`<img src=x onerror=window.ran=1>`",
    "<details open ontoggle=window.ran=1>",
    "\ud800<script>\u2028window.ran=1</script>",
)


def hostile(payload: str) -> list[Mark]:
    """Two students with a mark of each status, and the payload in every field that a student can influence."""
    node = {
        **{
            "index": 0,
            "op": "call_function",
            "args": {"tuple": [payload]},
            "kwargs": {"dict": [[payload, {"node": 0}]]},
        },
        **dict.fromkeys(("name", "target", "kind", "call", "scope"), payload),
        **{"inputs": [0, 0], "users": [0], "notes": [payload, "dead"], "faults": [payload]},
    }
    graph = {"nodes": [node], "lint": payload, "stale": False}
    fields = ("student", "rule", "message", "for_teacher", "node", "read", "line", "remark", "source")
    assignment = an_assignment(hidden=True)
    statuses = ("passed", "public", "failed", "missing", "unreadable", "error")
    texts: dict[str, Any] = dict.fromkeys(fields, payload)
    # With equal text, so that their answers are shown side by side.
    texts["plain"] = " ".join([payload, *map(str, range(99))])
    return [
        mark(assignment, 0, at, **texts, key=key, status=status, graph=graph, unproven=(payload,))
        for key in ("it's <b>&amp;\"?#%41", "zoe")
        for at, status in enumerate(statuses)
    ]


NAMES_IN_PAGE = """() => {
  const names = new Set();
  for (const element of document.querySelectorAll("*")) {
    names.add(element.localName);
    for (const attribute of element.attributes) names.add(element.localName + " " + attribute.name);
  }
  return [...names];
}"""


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Any]:
    """Open a file; at the end, fail on any request, message or script."""
    troubles: list[str] = []
    opened: dict[tuple[int, str, bool], Page] = {}
    file = ""

    def note_request(request: Request) -> None:
        if request.url != file:
            troubles.append(request.url)

    def opener(path: Path, width: int = 1280, theme: str = "light", policy: bool = True) -> Page:
        nonlocal file
        if (width, theme, policy) not in opened:
            window = {"width": width, "height": 900}
            page = browser.new_context(viewport=window, color_scheme=theme, bypass_csp=not policy).new_page()
            page.on("console", lambda message: troubles.append(message.text))
            page.on("pageerror", lambda error: troubles.append(str(error)))
            page.on("dialog", lambda dialog: troubles.append(dialog.message))
            page.on("request", note_request)
            opened[width, theme, policy] = page
        file = path.as_uri()
        opened[width, theme, policy].goto(file)
        return opened[width, theme, policy]

    yield opener
    for page in opened.values():
        page.context.close()
    assert troubles == []


def pages(folder: Path) -> list[Path]:
    return [folder / "class.html", *sorted(folder.glob("students/*/report.html"))]


def test_student_text_is_escaped(open_page: Any, tmp_path: Path) -> None:
    assignment = an_assignment(hidden=True)
    plain = tmp_path / "plain"
    reports.write(plain, assignment, hostile("`plain`"))
    # Without the page's policy, to test the escaping alone.
    allowed = [set(open_page(path, policy=False).evaluate(NAMES_IN_PAGE)) for path in pages(plain)]
    assert "svg" in allowed[1] and "pre" in allowed[0] and "script" not in allowed[0]
    for at, payload in enumerate(PAYLOADS):
        folder = tmp_path / str(at)
        reports.write(folder, assignment, hostile(payload))
        for path, names in zip(pages(folder), allowed, strict=True):
            page = open_page(path, policy=False)
            assert set(page.evaluate(NAMES_IN_PAGE)) <= names, payload
            page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
            page.mouse.move(200, 200)
            assert page.evaluate("window.ran") is None, payload
            hrefs = page.evaluate("[...document.querySelectorAll('[href]')].map(a => a.getAttribute('href'))")
            assert all(href.startswith(("#", "students/")) for href in hrefs), payload


def test_content_policy_alone_stops_scripts(browser: Browser, tmp_path: Path) -> None:
    reports.write(tmp_path, an_assignment(), marks_of(an_assignment(), 1))
    for path in pages(tmp_path):
        attack = "<script>window.ran = 1</script><img src=x onerror='window.ran = 2'>"
        path.write_text(path.read_text(encoding="utf-8").replace("</body>", attack + "</body>"), encoding="utf-8")
        page = browser.new_page()
        page.goto(path.as_uri())
        assert page.evaluate("window.ran") is None
        page.close()


def test_class_page_links_to_students(open_page: Any, tmp_path: Path) -> None:
    assignment = an_assignment(hidden=True)
    marks = [dataclasses.replace(mark, key="a b#c?%41'\"<é>") for mark in marks_of(assignment, 1)]
    reports.write(tmp_path, assignment, marks)
    address = open_page(tmp_path / "class.html").locator(".heat tbody a").first.evaluate("a => a.href")
    assert address == (tmp_path / "students" / marks[0].key / "report.html").as_uri()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_are_accessible(open_page: Any, tmp_path: Path, theme: str) -> None:
    assignment = an_assignment(hidden=True)
    reports.write(tmp_path, assignment, marks_of(assignment, 12), book="https://book.example")
    student = max(pages(tmp_path)[1:], key=lambda path: path.stat().st_size)
    for path in (tmp_path / "class.html", student):
        for width in (1280, 360):
            page = open_page(path, width, theme)
            page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
            violations = Axe().run(page, options=AXE).response["violations"]
            assert [
                (rule["id"], node["target"], node["failureSummary"]) for rule in violations for node in rule["nodes"]
            ] == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_print_is_light_and_fits_the_page(open_page: Any, tmp_path: Path) -> None:
    assignment = an_assignment()
    reports.write(tmp_path, assignment, marks_of(assignment, 12))
    for path in pages(tmp_path)[:2]:
        page = open_page(path, 690, "dark")
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate("document.documentElement.scrollWidth") <= 690
