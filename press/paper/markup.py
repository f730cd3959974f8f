"""The body of a page as a tree: read strictly, changed, written as XHTML that a reader of EPUB accepts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree
from lxml.builder import ElementMaker

XHTML, SVG = "http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"
E = ElementMaker(namespace=XHTML, nsmap={None: XHTML})
# Every stepper brings both along; on paper nothing runs, and the style stands once.
_BROUGHT = re.compile(r"<(script|style)\b[^>]*>.*?</\1>", re.DOTALL)
# HTML leaves them open.
_VOID = re.compile(r"<(br|hr|img|input)\b([^<>]*?)\s*/?>")
_PREFIXES = {"h": XHTML, "s": SVG}


class MarkupError(ValueError):
    """The body of a page is not well-formed; the message says where."""


def read(body: str) -> etree._Element:
    """The body as a ``div`` that holds it; drawings get the namespace that XML asks of them.

    Raises:
        MarkupError: a tag is not closed, or an attribute has no value.
    """
    bare = re.sub(r"<svg\b(?![^>]*\bxmlns=)", f'<svg xmlns="{SVG}"', _BROUGHT.sub("", body))
    bare = _VOID.sub(r"<\1\2/>", bare)
    try:
        return etree.fromstring(f'<div xmlns="{XHTML}">{bare}</div>', etree.XMLParser(huge_tree=True))
    except etree.XMLSyntaxError as error:
        line = bare.splitlines()[error.lineno - 1 if error.lineno else 0] if bare else ""
        raise MarkupError(f"{error.msg}: {line.strip()[:200]}") from error


def written(tree: etree._Element) -> str:
    """What stands inside of the tree's root, as XHTML."""
    whole = etree.tostring(tree, encoding="unicode")
    # Where a file is taken for HTML, an element that is empty but not void would swallow what follows it.
    whole = re.sub(
        r"<(a|b|code|div|em|i|li|p|pre|section|span|strong|td|th|ul)((?:\s[^<>]*)?)/>", r"<\1\2></\1>", whole
    )
    return whole[whole.index(">") + 1 : whole.rindex("<")] if "<" in whole[1:] else ""


def as_html(tree: etree._Element) -> str:
    """The tree, which loses its namespace, as HTML without a ``</br>``: a browser takes that for one more line."""
    for element in tree.iter(f"{{{XHTML}}}*"):
        element.tag = etree.QName(element).localname
    etree.cleanup_namespaces(tree)
    return etree.tostring(tree, encoding="unicode", method="html")


def find(tree: etree._Element, path: str) -> list[etree._Element]:
    """The elements of an XPath, where ``h:`` is HTML and ``s:`` is SVG."""
    return tree.xpath(path, namespaces=_PREFIXES)


def of_class(tree: etree._Element, name: str, tag: str = "*") -> list[etree._Element]:
    """The elements of a class below the tree, in the order of the text."""
    return find(tree, f".//{tag}[contains(concat(' ', normalize-space(@class), ' '), ' {name} ')]")


def classes(element: etree._Element) -> list[str]:
    """The classes of an element."""
    return element.get("class", "").split()


def text(element: etree._Element) -> str:
    """The words of an element, with single spaces."""
    return " ".join("".join(element.itertext()).split())


def drop(element: etree._Element) -> None:
    """Take an element out of its tree, and leave the text behind it where it is."""
    replace(element, [])


def replace(element: etree._Element, others: list[etree._Element]) -> None:
    """Put other elements in the place of one."""
    parent, tail = element.getparent(), element.tail or ""
    element.tail = None
    at = parent.index(element)
    parent[at : at + 1] = others
    if not tail:
        return
    if others:
        others[-1].tail = (others[-1].tail or "") + tail
    elif at:
        parent[at - 1].tail = (parent[at - 1].tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail


def headings(tree: etree._Element) -> Iterator[tuple[int, etree._Element]]:
    """The headings with their levels, in the order of the text."""
    for heading in find(tree, ".//h:h1|.//h:h2|.//h:h3|.//h:h4"):
        yield int(etree.QName(heading).localname[1]), heading
