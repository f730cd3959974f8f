"""The sidebar lists each page once, in the group of its chapter; the reading order has every chapter but no answer."""

from __future__ import annotations

import re
from pathlib import Path

from bs4 import Tag

from fxbook.catalogue import of_chapters
from tests.site.pages import CHAPTERS, PAGES, PROJECTS, TOC, parsed

BESIDE = ("chapters/when_it_breaks/", "solutions/", "book/teaching")

# The pages of the reading order.
TOPS = [entry["file"] for part in TOC["parts"] for entry in part["chapters"] if not entry["file"].startswith(BESIDE)]


def sidebar(book: Path, page: str) -> Tag:
    return parsed(book / f"{page}.html").select_one("nav.bd-docs-nav")


def page_of(book: Path, here: str, link: Tag) -> str:
    """The target page of a link."""
    html = book / f"{here}.html"
    return str((html.parent / (link["href"].partition("#")[0] or html.name)).resolve().relative_to(book))[:-5]


def neighbour(book: Path, page: str, rel: str) -> str | None:
    link = parsed(book / f"{page}.html").select_one(f'link[rel="{rel}"]')
    return page_of(book, page, link) if link else None


def test_each_page_is_listed_once_on_every_page(built_book: Path) -> None:
    for here in PAGES:
        listed = [page_of(built_book, here, link) for link in sidebar(built_book, here)("a")]
        assert sorted(listed) == sorted(PAGES), here
        assert not parsed(built_book / f"{here}.html").select(".bd-sidebar-primary nav:not(.bd-docs-nav) li a")


def test_a_group_holds_exercises_then_faults_then_solutions(built_book: Path) -> None:
    for chapter in CHAPTERS:
        name = chapter.partition("/")[2]
        row = next(
            link.parent for link in sidebar(built_book, PAGES[0])("a") if page_of(built_book, PAGES[0], link) == chapter
        )
        assert row.select_one(":scope > a .fx-number").text == name[:2]
        inside = row.select_one(":scope > details")("a")
        pages = [f"exercises/{name}", f"chapters/when_it_breaks/{name}", f"solutions/{name}"]
        assert [page_of(built_book, PAGES[0], link) for link in inside] == pages
        assert [link.find(string=True).strip() for link in inside] == ["Exercises", "When it breaks", "Solutions"]


def test_only_the_group_of_the_open_page_is_unfolded(built_book: Path) -> None:
    for here in PAGES:
        folds = sidebar(built_book, here)("details")
        unfolded = [fold.parent.select_one(":scope > a") for fold in folds if fold.has_attr("open")]
        stem = here.rpartition("/")[2]
        inside = [page_of(built_book, here, link) for link in unfolded]
        if re.match(r"[0-9P]\d_", stem):
            assert inside == [f"chapters/{stem}"], here
        else:
            assert inside == (["chapters/reference/fact_check"] if "fact_check" in here else []), here
        assert all(fold.summary["aria-label"] for fold in folds), "a summary names what it unfolds"


def test_the_next_page_is_the_exercises_then_the_next_chapter_and_never_an_answer(built_book: Path) -> None:
    read, page = [], PAGES[0]
    while page:
        assert page not in read
        read.append(page)
        page = neighbour(built_book, page, "next")
    assert read == [page for page in PAGES if not page.startswith(BESIDE)]
    for chapter in (*CHAPTERS, *PROJECTS):
        assert read[read.index(chapter) + 1] == chapter.replace("chapters/", "exercises/")


def test_pages_outside_the_reading_order_link_back_and_on(built_book: Path) -> None:
    for chapter in CHAPTERS:
        following = TOPS[TOPS.index(chapter) + 1]
        name = chapter.partition("/")[2]
        for beside, back in ((f"chapters/when_it_breaks/{name}", chapter), (f"solutions/{name}", f"exercises/{name}")):
            assert neighbour(built_book, beside, "prev") == back
            assert neighbour(built_book, beside, "next") == following


def test_a_project_is_listed_with_its_milestones_and_solutions(built_book: Path) -> None:
    for project in PROJECTS:
        following = TOPS[TOPS.index(project) + 1]
        name = project.partition("/")[2]
        row = next(
            link.parent for link in sidebar(built_book, PAGES[0])("a") if page_of(built_book, PAGES[0], link) == project
        )
        assert row.select_one(":scope > a .fx-number").text == name[:2]
        inside = [page_of(built_book, PAGES[0], link) for link in row.select_one(":scope > details")("a")]
        assert inside == [f"exercises/{name}", f"solutions/{name}"]
        assert neighbour(built_book, f"solutions/{name}", "prev") == f"exercises/{name}"
        assert neighbour(built_book, f"solutions/{name}", "next") == following


def test_the_sidebar_counts_the_exercises_that_the_terminal_counts(built_book: Path) -> None:
    told = {}
    for link in sidebar(built_book, PAGES[0])("a", href=re.compile("exercises/")):
        told[link["href"].rpartition("/")[2][:-5]] = link.select_one(".fx-solved")["data-fx-exercises"].split()
    assert told == {chapter: [one.id for one in exercises] for chapter, exercises in of_chapters().items()}
