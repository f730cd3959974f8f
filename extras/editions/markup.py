"""The body of a page as a tree: parsed strictly, changed, and written as XHTML for an EPUB."""

from __future__ import annotations

import re

from lxml import etree
from lxml.html import HtmlElement, XHTMLParser

XHTML, SVG = "http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"
# Each stepper contains a script and a style; an edition runs no scripts, and has the style once.
_SCRIPTS = re.compile(r"<(script|style)\b[^>]*>.*?</\1>", re.DOTALL)
_VOID = re.compile(r"<(br|hr|img|input)\b([^<>]*?)\s*/?>")
_EMPTY = re.compile(r"<(a|b|code|div|em|i|li|p|pre|section|span|strong|td|th|ul)((?:\s[^<>]*)?)/>")


def read(body: str) -> HtmlElement:
    """The body in a ``div``, with a namespace only for drawings; raises XMLSyntaxError if it is malformed."""
    body = re.sub(r"<svg\b(?![^>]*\bxmlns=)", f'<svg xmlns="{SVG}"', _SCRIPTS.sub("", body))
    body = _VOID.sub(r"<\1\2/>", body)
    return etree.fromstring(f"<div>{body}</div>", XHTMLParser(huge_tree=True))


def written(tree: HtmlElement) -> str:
    """The contents of the tree's root as XHTML that is also valid HTML, with every element closed."""
    text = _EMPTY.sub(r"<\1\2></\1>", etree.tostring(tree, encoding="unicode", with_tail=False))
    return text[text.index(">") + 1 : text.rindex("<")]


def find(tree: HtmlElement, path: str) -> list[HtmlElement]:
    """The elements that match an XPath, in which ``s:`` is SVG."""
    return tree.xpath(path, namespaces={"s": SVG})


def text(element: HtmlElement) -> str:
    return " ".join(element.text_content().split())


def replace(element: HtmlElement, others: list[HtmlElement]) -> None:
    for other in others:
        other.tail = None
        element.addprevious(other)
    element.drop_tree()
