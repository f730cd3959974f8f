"""A page is light: its first load needs few bytes and requests, and it repeats nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browsing import needs_chromium
from tests.loading import load
from tests.site.pages import CHAPTERS, PAGES

# Limits for the first load of a chapter.
MOST_BYTES, MOST_REQUESTS = 150_000, 12


@needs_chromium
@pytest.mark.room(name="site")
def test_the_first_load_of_a_chapter_is_light(browser: Browser, built_book: Path) -> None:
    pages = load("benchmarks/pages.py")
    weights = {page: pages.weigh(browser, built_book / f"{page}.html") for page in CHAPTERS}
    heavy = {page: it for page, it in weights.items() if it.bytes > MOST_BYTES or it.requests > MOST_REQUESTS}
    assert heavy == {}
    # A page that failed to load would also be light.
    assert min(weight.bytes for weight in weights.values()) > 50_000


def test_each_style_and_script_occurs_once_on_a_page(built_book: Path) -> None:
    for page in PAGES:
        html = (built_book / f"{page}.html").read_text("utf-8")
        own = re.findall(r"<(?:style|script)[^>]*>([^<].*?)</(?:style|script)>", html, re.DOTALL)
        assert len(own) == len(set(own)), page
        assert sum("window.fxSteppers" in text for text in own) == ('class="fx-drawing fx-stepper"' in html), page


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        ("a { color: red } .card, .card a { margin: 0 }", "a{color:red}"),
        (".shown, .gone { margin: 0 }", ".shown{margin:0}"),
        ("#here > .shown:not(.gone) { margin: 0 }", "#here > .shown:not(.gone){margin:0}"),
        (":is(.gone, .shown) b { margin: 0 }", ":is(.gone, .shown) b{margin:0}"),
        ("@media print { .gone { margin: 0 } }", ""),
        ("@media print { .gone { margin: 0 } .shown { margin: 0 } }", "@media print{.shown{margin:0}}"),
        ('.shown::before { content: "a  :  b" }', '.shown::before{content: "a  :  b"}'),
        ('html[data-theme="dark"] .shown { margin: 0 }', 'html[data-theme="dark"] .shown{margin:0}'),
    ],
)
def test_a_css_rule_is_dropped_only_if_nothing_uses_it(css: str, kept: str) -> None:
    assert load("book/_ext/bundle.py").purged(css, {"shown", "here"}) == kept


def test_scripts_are_minified() -> None:
    script = "// Why.\n(() => {\n\n  const page = 'https://here';  // kept\n})();\n"
    assert load("book/_ext/bundle.py").brief(script) == "(() => {\nconst page = 'https://here';  // kept\n})();"


def test_licences_stay(built_book: Path) -> None:
    assert load("book/_ext/bundle.py").notices(["/*! MIT */a{}/* own */", "/*! MIT */"]) == "/*! MIT */"
    css = (built_book / "_static/site.css").read_text("utf-8")
    assert "Bootstrap Authors" in css and "Font Awesome Free" in css
    assert (built_book / "_static/scripts/bootstrap.js.LICENSE.txt").is_file()


def test_every_class_that_a_page_shows_keeps_its_rules(built_book: Path) -> None:
    """The site's style sheet has every rule of the theme that matches an element of a page."""
    bundle = load("book/_ext/bundle.py")
    import pydata_sphinx_theme

    theme = (
        Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static/styles/pydata-sphinx-theme.css"
    )
    names = bundle.names_of_pages([(built_book / f"{CHAPTERS[3]}.html").read_text("utf-8")])
    wanted = set(re.findall(r"[^{}]+(?=\{)", bundle.purged(theme.read_text("utf-8"), names)))
    there = set(re.findall(r"[^{}]+(?=\{)", (built_book / "_static/site.css").read_text("utf-8")))
    selectors = {part.strip() for rule in there for part in rule.split(",")}
    lost = {part.strip() for rule in wanted for part in rule.split(",")} - selectors
    assert {part for part in lost if not part.startswith("@")} == set()
    assert len(wanted) > 300
