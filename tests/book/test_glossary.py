"""Terms in bold and the glossary link to each other, and the glossary is complete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from press import ROOT
from press.book import COMPANIONS, the_book
from press.manuscript.reading import Cell, Manuscript, anchor, headings, prose_lines, read

GLOSSARY = ROOT / "book/reference/glossary.md"
CHAPTERS = sorted((ROOT / "book/chapters").glob("*.md"))
# The address in a chapter's notebook. The bold term itself is the link.
SEEN_FROM_CHAPTERS = "../book/reference/glossary.md#"
BOLD = re.compile(r"(?<!\*)\*\*(?! )([^*]+?)\*\*(?!\*)(?:\]\(([^)]*)\))?")
LINK = re.compile(r"\[chapter (\d\d)\]\(\.\./\.\./chapters/((?:when_it_breaks/)?\w+)\.ipynb#([\w-]+)\)")
# From here on, bold marks a belief rather than a term.
BELIEFS = "## What people get wrong"
LONGEST_TERM = 2
LEAST_ENTRIES = 60


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of the main text, one per line, without headings, tables and code."""
    prose = "\n".join(line for _, line in prose_lines(Cell("markdown", text.partition(f"\n{BELIEFS}\n")[0], 1)))
    for paragraph in re.split(r"\n\s*\n", prose):
        lines = [line for line in paragraph.splitlines() if not line.lstrip().startswith(("#", "|"))]
        yield re.sub(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", spoken, " ".join(lines))


def spoken(code: re.Match[str]) -> str:
    """The last part of a dotted name: ``Transformer`` for ``fx.Transformer``. Other code is not a term."""
    return code[2].rpartition(".")[2] if re.fullmatch(r"[\w.]+", code[2]) else "code"


def bold_terms(text: str) -> list[tuple[str, str]]:
    """The bold terms of a chapter, each with the address of its link, or ``""``.

    A term has one or two words. Anything longer is a label (**Keep one reader.**) or a rule, unless it is linked.
    """
    matches = [match for paragraph in paragraphs(text) for match in BOLD.finditer(paragraph)]
    return [(match[1], match[2] or "") for match in matches if match[2] or len(match[1].split()) <= LONGEST_TERM]


def sections(path: Path) -> dict[str, str]:
    """The sections of a chapter by current and former anchor, each up to the next heading of the same level."""
    page = read(path)
    texts, current = _by_heading(page), headings(page)
    now = {text: name for name, text in current.items() if name == anchor(text)}
    return texts | {name: texts[now[text]] for name, text in current.items()}


def _by_heading(page: Manuscript) -> dict[str, str]:
    texts: dict[str, str] = {}
    open_ones: dict[str, int] = {}
    for cell in page.cells:
        prose = {number for number, _ in prose_lines(cell)}
        for number, line in enumerate(cell.source.splitlines(), start=cell.line):
            if number in prose and (heading := re.match(r"(#{1,6}) +(.+?) *$", line)):
                # The section of the title ends at the first section.
                open_ones = {name: level for name, level in open_ones.items() if 1 < level < len(heading[1])}
                open_ones[anchor(heading[2])] = len(heading[1])
            for name in open_ones:
                texts[name] = f"{texts.get(name, '')}{line}\n"
    return texts


def entries(text: str) -> dict[str, list[str]]:
    """The two lines of each entry by heading: the definition, and the words in other languages."""
    sections = {}
    for part in text.split("\n### ")[1:]:
        heading, _, body = part.partition("\n\n")
        sections[heading] = " ".join(body.partition("\n## ")[0].split()).split("\\ ")
    return sections


ENTRIES = entries(GLOSSARY.read_text(encoding="utf-8"))
TERMS = [(path, *pair) for path in CHAPTERS for pair in bold_terms(path.read_text(encoding="utf-8"))]
SECTIONS = {path.stem: sections(path) for path in CHAPTERS}
SECTIONS |= {f"{COMPANIONS}/{path.stem}": sections(path) for path in the_book().companions.values()}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_bold_term_links_to_its_entry(path: Path) -> None:
    slugs = {anchor(heading): heading for heading in ENTRIES}
    for _, term, link in (entry for entry in TERMS if entry[0] == path):
        assert link.startswith(SEEN_FROM_CHAPTERS), f"link **{term}** to the glossary: {SEEN_FROM_CHAPTERS}…"
        heading = slugs.get(link.removeprefix(SEEN_FROM_CHAPTERS))
        assert heading, f"**{term}** links to {link}, which is no entry of the glossary"
        assert stem(term.split()[0]) == stem(heading.split()[0]), f"**{term}** links to {heading}"
    assert (path.parent.parent.parent / "chapters" / SEEN_FROM_CHAPTERS.rstrip("#")).resolve() == GLOSSARY


def stem(word: str) -> str:
    """A prefix that matches other forms of a word: ``trace``, ``tracing``."""
    return re.sub(r"\W", "", word).lower()[:4]


@pytest.mark.parametrize("heading", ENTRIES)
def test_entry_is_complete_and_links_to_its_term(heading: str) -> None:
    what, *words = ENTRIES[heading]
    assert re.match(r"[A-Z].{10,}?[.] \(", LINK.sub("", what)), "no definition"
    links = LINK.findall(what)
    assert links, "no chapter"
    chapters = [SECTIONS[chapter].get(place, "") for _, chapter, place in links]
    for (number, chapter, place), text in zip(links, chapters, strict=True):
        assert chapter.rpartition("/")[2].startswith(number)
        assert text, f"{chapter} has no heading {place}"
        for name in re.findall(r"`(.+?)`", heading):
            assert name in text, f"{name} does not occur in {chapter}#{place}"
        known = {stem(word) for word in re.findall(r"[^\W_]+", text)}
        for word in re.findall(r"[\w-]+", re.sub(r"`.+?`( and)?|\(.+\)", "", heading)):
            assert stem(word) in known, f"{word!r} does not occur in {chapter}#{place}"
    bold_somewhere = [link for _, _, link in TERMS if link == SEEN_FROM_CHAPTERS + anchor(heading)]
    marked = any(f"({SEEN_FROM_CHAPTERS}{anchor(heading)})" in text for text in chapters)
    assert marked or not bold_somewhere, "the entry does not link to the place where its term is in bold"
    [languages] = words
    english = "the English word is used"
    for name, code in (("Japanese", "ja"), ("Chinese", "zh")):
        word = rf'{name}: (?:<span lang="{code}">[^<]+</span>|{english})'
        assert re.search(word, languages) or languages == f"Japanese and Chinese: {english}", f"{name} is missing"


def test_entries_are_sorted() -> None:
    keys = [re.sub(r"`", "", heading).lower() for heading in ENTRIES]
    assert keys == sorted(keys)
    assert len(keys) >= LEAST_ENTRIES
    text = GLOSSARY.read_text(encoding="utf-8")
    assert text.count("\n### ") == len(keys), "an entry occurs twice"
    letters = re.findall(r"^## (.)$", text, re.MULTILINE)
    assert letters == sorted({key[0].upper() for key in keys})
    assert " · ".join(f"[{letter}](#{letter.lower()})" for letter in letters) in text
    for letter, part in zip(letters, re.split(r"^## .$", text, flags=re.MULTILINE)[1:], strict=True):
        headings = re.findall(r"^### (.+)$", part, re.MULTILINE)
        assert {heading.replace("`", "")[0].upper() for heading in headings} == {letter}


def test_words_use_the_script_of_their_language() -> None:
    text = GLOSSARY.read_text(encoding="utf-8")
    bare = re.sub(r'<span lang="(?:ja|zh)">[^<]+</span>', "", text)
    assert re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]+", bare) == [], "a word outside a span with its language"
    assert not re.findall(r'lang="zh">[^<]*[\u3040-\u30ff]', text), "kana in a Chinese word"
