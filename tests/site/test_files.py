"""The files of the built book are complete, linked, accessible and small, and load nothing from another host."""

from __future__ import annotations

import gzip
import itertools
import re
from pathlib import Path
from types import ModuleType

import pytest
from bs4 import Tag

from press import ROOT
from tests.loading import load
from tests.site.pages import CHAPTERS, PAGES, TOC, article, ids_of, parsed

# The attributes whose address a browser loads without a click. Links to other hosts are allowed.
LOADS = {
    "script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src",
    "object": "data", "embed": "src", "use": "href", "image": "href", "input": "src",
}  # fmt: skip
ELSEWHERE = re.compile(r"^\s*(?:[a-z][a-z+.-]*:)?//", re.IGNORECASE)
CSS_LOADS = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s;]+)""", re.IGNORECASE)

# In bytes: a page as it is sent (gzip), and everything else that it loads, as it is on disk.
PAGE_BUDGET, STATIC_BUDGET = 70_000, 300_000


@pytest.fixture(scope="module")
def footer() -> ModuleType:
    return load("book/_ext/footer.py")


def test_every_page_of_the_table_of_contents_is_built(built_book: Path) -> None:
    assert [page for page in PAGES if not (built_book / f"{page}.html").is_file()] == []
    assert f"{TOC['root']}.html" in (built_book / "index.html").read_text("utf-8")


def test_nothing_but_the_book_is_built(built_book: Path) -> None:
    built = {str(path.relative_to(built_book).with_suffix("")) for path in built_book.rglob("*.html")}
    built = {path.replace("\\", "/") for path in built if not path.startswith("_static")}
    assert built - set(PAGES) == {"404", "index", "search"}, (
        "pages that are not in _toc.yml; if they are old, remove _build"
    )


def test_no_page_loads_anything_from_another_host(built_book: Path) -> None:
    found = []
    for html in built_book.rglob("*.html"):
        page = parsed(html)
        links = [(tag.name, tag.get(attribute, "")) for name, attribute in LOADS.items() for tag in page(name)]
        links += [("srcset", tag["srcset"]) for tag in page(srcset=True)]
        styles = [tag.get_text() for tag in page("style")] + [tag["style"] for tag in page(style=True)]
        links += [("style", url) for style in styles for url in CSS_LOADS.findall(style)]
        found += [(html.name, *link) for link in links if ELSEWHERE.match(link[1])]
    for css in built_book.rglob("*.css"):
        found += [(css.name, url) for url in CSS_LOADS.findall(css.read_text("utf-8")) if ELSEWHERE.match(url)]
    assert found == []


def test_every_link_inside_the_book_leads_somewhere(built_book: Path) -> None:
    dead = []
    for name in PAGES:
        html = built_book / f"{name}.html"
        for link in parsed(html)("a", href=True):
            path, _, anchor = link["href"].partition("#")
            if ELSEWHERE.match(path) or path.startswith("mailto:"):
                continue
            target = (html.parent / path.partition("?")[0]).resolve() if path else html
            missing = not target.exists()
            lost = anchor and target.suffix == ".html" and not missing and anchor not in ids_of(target)
            if missing or lost:
                dead.append((name, link["href"]))
    assert dead == []


def test_ids_are_unique(built_book: Path) -> None:
    counted = {page: ids_of(built_book / f"{page}.html") for page in PAGES}
    assert [(page, name) for page, ids in counted.items() for name, times in ids.items() if times > 1] == []


def test_pictures_say_what_they_show(built_book: Path) -> None:
    silent = []
    for page in PAGES:
        body = article(built_book, page)
        silent += [(page, str(image)[:120]) for image in body("img") if not image.get("alt")]
        silent += [(page, str(svg)[:120]) for svg in body("svg") if not _has_name(svg, body)]
    assert silent == []


def _has_name(svg: Tag, body: Tag) -> bool:
    if svg.get("aria-hidden") == "true" or svg.find_parent(attrs={"aria-hidden": "true"}):
        return True
    titled = svg.find("title", recursive=False)
    named = [body.find(id=name) for name in svg.get("aria-labelledby", "").split()]
    return svg.get("role") == "img" and bool(svg.get("aria-label") or (named and all(named)) or titled)


def test_headings_step_down_one_level_at_a_time(built_book: Path) -> None:
    faults = []
    for page in PAGES:
        levels = [int(heading.name[1]) for heading in article(built_book, page)(re.compile("^h[1-6]$"))]
        if (
            levels[0] != 1
            or levels.count(1) != 1
            or any(below > above + 1 for above, below in itertools.pairwise(levels))
        ):
            faults.append((page, levels))
    assert faults == []


def test_a_chapter_and_its_exercises_link_each_other(built_book: Path) -> None:
    lost = []
    for page in CHAPTERS:
        name = page.partition("/")[2]
        for here, there in ((page, f"exercises/{name}"), (f"exercises/{name}", page)):
            links = {link["href"].partition("#")[0] for link in article(built_book, here)("a", href=True)}
            lost += [(here, there)] * (f"../{there}.html" not in links)
    assert lost == []


def test_a_page_is_small(built_book: Path) -> None:
    large = []
    for page in PAGES:
        html = built_book / f"{page}.html"
        travels = len(gzip.compress(html.read_bytes()))
        sheets = [tag["href"] for tag in parsed(html)("link", rel="stylesheet")]
        links = {link.partition("?")[0] for link in sheets + [tag["src"] for tag in parsed(html)("script", src=True)]}
        loaded = sum((html.parent / link).resolve().stat().st_size for link in links)
        if travels > PAGE_BUDGET or loaded > STATIC_BUDGET:
            large.append((page, travels, loaded))
    assert large == []


def test_a_notebook_can_be_downloaded_as_committed(built_book: Path) -> None:
    other = []
    for page in PAGES:
        notebook, html = ROOT / f"{page}.ipynb", built_book / f"{page}.html"
        if notebook.is_file():
            links = {tag["href"] for tag in parsed(html).select("a.btn-download-source-button")}
            if [(html.parent / link).read_bytes() for link in links] != [notebook.read_bytes()]:
                other.append(page)
    assert other == []


def test_each_page_names_the_pinned_torch(built_book: Path, footer: ModuleType) -> None:
    sentence = f"Checked against torch {footer.pinned_version(ROOT / 'requirements.txt', 'torch')}."
    footers = {page: parsed(built_book / f"{page}.html").select_one(".fx-bookplate") for page in PAGES}
    assert [page for page, shown in footers.items() if not shown.get_text(strip=True).startswith(sentence)] == []


def test_status_page_states_its_day(built_book: Path, footer: ModuleType) -> None:
    shown = parsed(built_book / f"{footer.STATUS}.html").select_one(".fx-bookplate")
    assert re.search(r"Built on 20\d\d-\d\d-\d\d\.", shown.text)


def test_built_folder_has_no_unused_files(built_book: Path, footer: ModuleType) -> None:
    assert footer.drop_unread(built_book / "_static") == 0


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("opcode       name\nplaceholder  x\n", True),
        ("    a = torch.sin(x);  x = None\n    b = torch.cos(a);  a = None\n", False),
        (f"make_fx  right\ntorch.export  refuses: {'a message ' * 9}\n", False),
        (f"Node `a` is dead, {'for a reason ' * 5}\n0  x  placeholder\n1  a  call_function\n", False),
    ],
)
def test_only_tables_scroll(text: str, table: bool) -> None:
    assert load("book/_ext/outputs.py").is_table(text) is table


def test_stored_report_links_to_its_section() -> None:
    linked = load("book/_ext/outputs.py").linked
    sections = {"03_replacement": {"one-use-or-all-uses": "One use, or all uses"}}
    place = "chapter 03, replacement, section “One use, or all uses”"
    html = f"<pre>Node `drop` is left.\nRead: {place} (chapters/03_replacement.ipynb)\n</pre>"
    link = f'<a href="../chapters/03_replacement.html#one-use-or-all-uses">{place}</a>'
    assert linked(html, "exercises/03_replacement", sections) == f"<pre>Node `drop` is left.\nRead: {link}\n</pre>"
