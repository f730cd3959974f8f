"""Build the search index and the text of each section as scripts, which also load from a folder.

A local Sphinx extension, named in `_config.yml`, in place of Sphinx's index of whole pages. Each page gets a script
with the text of its sections in ``_static/search/pages``, and all of them share one index of words. They load only
during a search: first the index, then the texts of the results. ``_static/search/find.js`` searches.
"""

import functools
import json
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

# The page with every message; its entries lead to the sections that explain them.
MESSAGES = "chapters/reference/symptom_index"
# The beginning of an entry whose section only shows the message and explains something else.
SHOWN = "Shown in"
# Pages that the search does not find, so that nobody sees an answer by accident.
LEFT_OUT = ("solutions/", MESSAGES)
# Readers' words for things that the book names differently or does not have.
SYNONYMS = Path(__file__).parent.parent / "search_words.yml"
ABSENT = SYNONYMS.with_name("not_in_book.yml")
FIELDS = ("title", "words", "text")
# A term in more than one of this many sections does not distinguish them.
TOO_OFTEN = 16
# A phrase of search_words.yml with this many words is a message.
WORDS_OF_MESSAGE = 4
# A term counts at most this often, since higher counts would hardly change the order. On these pages it counts once: a
# list in the reference or a message in a companion repeats its terms.
ONCE = ("chapters/reference/", "book/reference/", "chapters/when_it_breaks/", "exercises/")
MOST_TIMES = {**dict.fromkeys(ONCE, 1), "": 3}
# Pages that list what other pages explain are found only by their headings.
_LISTS = ("api_index", "architectures", "random_graphs", "solved", "status")
LISTS = tuple(f"chapters/reference/{name}" for name in _LISTS)
# Words that are too frequent to distinguish sections; find.js omits them as well.
COMMON = {
    *(
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "for",
        "from",
        "has",
        "have",
        "in",
        "is",
        "it",
        "its",
        "of",
        "on",
    ),
    *("or", "that", "the", "this", "to", "was", "what", "with"),
}
_TERM = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_BETWEEN = re.compile(r"\s*(\(torch [^)]*\))?\s*")
_TAG = re.compile(r"<[^>]+>")
_SHOWN = re.compile(r"<(svg|style|script|table|pre)\b|fx-drawing")


class Section(NamedTuple):
    """A heading and the text below it, up to the next heading."""

    anchor: str
    title: str
    text: str


class Message(NamedTuple):
    """A message, the page and anchor of its section, and whether that section only shows the message."""

    text: str
    place: str
    shown: bool = False


def sections(document: nodes.document) -> Iterator[Section]:
    for section in document.findall(nodes.section):
        title = next(iter(section.findall(nodes.title)), None)
        if title is not None:
            parts = [_text(child) for child in section.children if not isinstance(child, nodes.title | nodes.section)]
            yield Section(section["ids"][0], title.astext(), " ".join(" ".join(parts).split()))


def _text(node: nodes.Node) -> str:
    # Outputs are left out: readers search only for the messages in them, which the symptom index lists.
    if isinstance(node, nodes.Element) and "cell_output" in node["classes"]:
        return ""
    if isinstance(node, nodes.raw):
        html = node.astext()
        return "" if node.get("format") != "html" or _SHOWN.search(html) else _TAG.sub(" ", html)
    if isinstance(node, nodes.Text):
        return node.astext()
    inner = (_text(child) for child in node.children)
    return "".join(inner) + ("" if isinstance(node, nodes.Inline) else " ")


def messages(document: nodes.document) -> Iterator[Message]:
    """The messages in the symptom index, each with the address of its entry, relative to that page.

    An entry is a paragraph: messages as code, one per line, then their explanation.
    """
    for item in document.findall(nodes.list_item):
        entry = item.next_node(nodes.paragraph)
        link = next(iter(item.findall(nodes.reference)), None)
        if entry is None or link is None:
            continue
        found: list[str] = []
        for child in entry.children:
            if isinstance(child, nodes.literal):
                found.append(child.astext())
            # Versions and the end of the line may follow a message.
            elif not isinstance(child, nodes.raw) and not _BETWEEN.fullmatch(child.astext()):
                yield from (Message(text, link["refuri"], child.astext().strip().startswith(SHOWN)) for text in found)
                break


def terms(text: str) -> Iterator[str]:
    """The terms of a text by the rules of find.js: words, and the parts of ``BatchNorm2d`` and ``erase_node``."""
    for word in _TERM.findall(text):
        yield from _of_word(word)


@functools.cache
def _of_word(word: str) -> tuple[str, ...]:
    parts = _PART.findall(word)
    longer = (part for part in parts if len(part) > 2) if len(parts) > 1 else ()
    return (*_term(word), *(term for part in longer for term in _term(part)))


def _of_phrases(phrases: list[str]) -> Iterator[str]:
    """The terms of phrases, and each phrase of several words as one term."""
    for phrase in phrases:
        yield from terms(phrase)
        own = [_stem(word) for word in _TERM.findall(phrase)]
        if len(own) > 1:
            yield "+".join(own)


def _term(word: str) -> Iterator[str]:
    if word.lower() not in COMMON and not word.isdigit():
        yield _stem(word)


def _stem(word: str) -> str:
    word = re.sub(r"iz(?=e|ing|ation)", "is", word.lower())
    return re.sub(r"(?<=[^su]..)s$|(?<=[^s]u.)s$", "", word)


def index(
    pages: dict[str, tuple[str, list[Section]]], synonyms: dict[str, str], listed: Iterable[Message] = ()
) -> dict[str, Any]:
    """The data for find.js, in a compact form.

    Args:
        pages: title and sections by page.
        synonyms: more words by section: ``"chapters/03_replacement#replace-a-pattern"``.
        listed: the messages that the book explains or shows.

    Raises:
        ExtensionError: a section with synonyms is missing from its page.
    """
    places = [f"{page}#{section.anchor}" for page, (_, own) in pages.items() for section in own]
    # A build of only some pages lacks the sections of other synonyms.
    if lost := [place for place in synonyms if place.partition("#")[0] in pages and place not in places]:
        raise ExtensionError(f"{SYNONYMS.name}: no section has the address {', '.join(lost)}")
    listed = [*listed, *(Message(one, place) for place, words in synonyms.items() for one in _phrases(words)[1])]
    found: dict[str, list[dict[int, int]]] = defaultdict(lambda: [{} for _ in FIELDS])
    lengths = []
    every = [(page, section) for page, (_, own) in pages.items() for section in own]
    for number, (page, section) in enumerate(every):
        words = _phrases(synonyms.get(f"{page}#{section.anchor}", ""))[0]
        text = "" if page.startswith(LISTS) else section.text
        counted = [Counter(terms(section.title)), Counter(_of_phrases(words)), Counter(terms(text))]
        lengths.append([count.total() for count in counted])
        most = next(most for beginning, most in MOST_TIMES.items() if page.startswith(beginning))
        for at, count in enumerate(counted):
            for term, times in count.items():
                found[term][at][number] = min(times, most)
    for fields in found.values():
        if len(fields[-1]) > len(every) / TOO_OFTEN:
            fields[-1].clear()
    at_place = {place: number for number, place in enumerate(places)}
    # Keep each message once per section.
    by_words = {(" ".join(_TERM.findall(one.text)), one.place): one for one in listed if one.place in at_place}
    return {
        "pages": [[page, title, [*map(_heading, own)]] for page, (title, own) in pages.items()],
        "lengths": " ".join(",".join(_digits(value) for value in own) for own in lengths),
        "terms": "\n".join(
            f"{term} {'|'.join(map(_postings, found[term])).rstrip('|')}" for term in sorted(found) if any(found[term])
        ),
        "messages": "\n".join(
            f"{one.text}\t{_digits(at_place[one.place])}" + "\t1" * one.shown for one in by_words.values()
        ),
    }


def _phrases(words: str) -> tuple[list[str], list[str]]:
    """Split the search words of a section into words and messages."""
    phrases = [phrase.strip() for phrase in words.split(",")]
    long = [phrase for phrase in phrases if len(_TERM.findall(phrase)) >= WORDS_OF_MESSAGE]
    return [phrase for phrase in phrases if phrase not in long], long


def _heading(section: Section) -> str | list[str]:
    """A heading, with its anchor if find.js would derive a different one."""
    slug = re.sub(r"^[-0-9]+|-$", "", re.sub(r"[^a-z0-9]+", "-", section.title.lower()))
    return section.title if slug == section.anchor else [section.title, section.anchor]


def _postings(times: dict[int, int]) -> str:
    """Encode the sections of a term as distances in base 36, with the counts above 1: ``"3 1*4 k"``."""
    last, parts = -1, []
    for number, count in times.items():
        parts.append(_digits(number - last) + (f"*{_digits(count)}" if count > 1 else ""))
        last = number
    return ",".join(parts)


def _digits(number: int) -> str:
    """A number in base 36."""
    head, last = divmod(number, 36)
    return (_digits(head) if head else "") + "0123456789abcdefghijklmnopqrstuvwxyz"[last]


def _no_index_of_pages(app: Sphinx) -> None:
    app.builder.search = False


def _search_page(_app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    yield "search", {}, "search.html"


def _folder(app: Sphinx) -> Path:
    return Path(app.outdir) / "_static" / "search" / "pages"


def _file(page: str) -> str:
    return page.replace("/", ".") + ".js"


def _keep_text(app: Sphinx, page: str, _template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    if tree is None or app.builder.name != "html" or page.startswith(LEFT_OUT):
        return
    file = _folder(app) / _file(page)
    file.parent.mkdir(parents=True, exist_ok=True)
    own = [list(section) for section in sections(tree)]
    title = _TAG.sub("", context["title"])
    file.write_text(f"fxText({json.dumps([page, title, own], ensure_ascii=False)})\n", "utf-8")


def _write_index(app: Sphinx, failure: Exception | None) -> None:
    if failure is not None or app.builder.name != "html":
        return
    pages = {}
    for page in _in_order(app):
        file = _folder(app) / _file(page)
        if file.is_file() and not page.startswith(LEFT_OUT):
            name, title, own = json.loads(file.read_text("utf-8").removeprefix("fxText(").rstrip()[:-1])
            pages[name] = (title, [Section(*section) for section in own])
    for file in _folder(app).glob("*.js"):
        if file.name not in map(_file, pages):
            file.unlink()
    listed = ()
    if MESSAGES in app.env.found_docs:
        tree = app.env.get_and_resolve_doctree(MESSAGES, app.builder)
        listed = (one._replace(place=_place(app, one.place)) for one in messages(tree))
    found = index(pages, yaml.safe_load(SYNONYMS.read_text("utf-8")), listed)
    found["absent"] = yaml.safe_load(ABSENT.read_text("utf-8"))
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    (_folder(app).parent / "index.js").write_text(f"fxIndex({text})\n", "utf-8")


def _place(app: Sphinx, link: str) -> str:
    """The page and anchor of a link in the list of messages."""
    page, _, anchor = posixpath.normpath(posixpath.join(posixpath.dirname(MESSAGES), link)).partition("#")
    return f"{page.removesuffix(app.builder.out_suffix)}#{anchor}"


def _in_order(app: Sphinx) -> list[str]:
    """The pages in the order of the table of contents, which decides between results of equal rank."""
    order, open_pages = [], [app.config.root_doc]
    while open_pages:
        page = open_pages.pop(0)
        order.append(page)
        open_pages = [*app.env.toctree_includes.get(page, []), *open_pages]
    return [page for page in dict.fromkeys(order) if page in app.env.found_docs]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", _no_index_of_pages)
    app.connect("html-collect-pages", _search_page)
    app.connect("html-page-context", _keep_text)
    app.connect("build-finished", _write_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
