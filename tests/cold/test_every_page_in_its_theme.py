"""No page has a fault in the theme that its reader chose, no text of it too little contrast (slow).

``make test`` opens two pages so, and has axe look at one page of each kind.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext

from tests.browsing import needs_chromium
from tests.site.pages import PAGES
from tests.site.test_in_browser import (  # noqa: F401  (fixtures)
    AXE,
    LOOKS,
    THEMES,
    address,
    faults_of,
    readers,
    troubles_of,
    violations,
)

pytestmark = needs_chromium


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_fault(readers: dict[str, BrowserContext], address: str, name: str, theme: str) -> None:  # noqa: F811
    page = readers[theme].new_page()
    try:
        troubles = troubles_of(page, urlsplit(address).netloc)
        page.goto(f"{address}/{name}.html")
        assert page.locator("html").get_attribute("data-theme") == theme
        page.evaluate("document.querySelectorAll('article details').forEach(fold => { fold.open = true })")
        assert violations(page, AXE) == []
        assert troubles == []
    finally:
        page.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_fault_on_a_phone(readers: dict[str, BrowserContext], address: str, name: str) -> None:  # noqa: F811
    page = readers["light"].new_page()
    try:
        assert list(faults_of(page, address, name, LOOKS, {theme: set() for theme in THEMES})) == []
    finally:
        page.close()
