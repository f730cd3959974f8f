"""Reduce the elements and bytes of pages without changing their look.

A local Sphinx extension, named in `_config.yml`. A generated notebook repeats a stepper's style and script in every
output so that each cell works by itself; a page needs them once. Pygments wraps every token in an element, although
most have the colour of the text around them.
"""

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from pygments.formatters import HtmlFormatter
from pygments.style import Style
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES, Operator, Text, Whitespace, _TokenType
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

# The theme's options for the colours of code, light and dark.
STYLES = ("pygments_light_style", "pygments_dark_style")
WITHOUT_EFFECT = [
    # docutils keeps each word of inline code on one line, but here code may break between words.
    (re.compile(r'<span class="pre">(.*?)</span>'), r"\1"),
    # No style uses these classes; the classes that stay prevent translation.
    (re.compile(r'(?<=<code class=")docutils (?=literal notranslate">)'), ""),
    (re.compile(r'(?<=<a) class="reference internal"(?= href=)'), ""),
    # Sphinx adds the kind of a link, which no style uses.
    (re.compile(r'<span class="std std-(?:doc|ref)">(.*?)</span></a>', re.DOTALL), r"\1</a>"),
    # Pygments adds this element for code that may begin with an empty line.
    (re.compile(r"<pre><span></span>(?!\n)"), "<pre>"),
    # A list item with a single paragraph needs no paragraph element.
    (
        re.compile(r"<li><p>((?:(?!<(?:/?p|ul|ol|dl|pre|div|table|details|li)\b).)*)</p></li>", re.DOTALL),
        r"<li>\1</li>",
    ),
]
OWN = re.compile(r"<(style|script)>(.*?)</\1>", re.DOTALL)

Tokens = Iterable[tuple[_TokenType, str]]


def same_looks(styles: Iterable[type[Style]]) -> dict[_TokenType, _TokenType]:
    """Map each kind of token to the first kind that looks the same in all styles, beginning with plain ``Text``."""
    styles = tuple(styles)

    def looks(kind: _TokenType) -> tuple[Any, ...]:
        return tuple(tuple(sorted(style.style_for_token(kind).items())) for style in styles)

    # Of a space, only a background, a line or a border is visible.
    grounds = [style.style_for_token(Whitespace) for style in styles]
    unseen = not any(ground["bgcolor"] or ground["underline"] or ground["border"] for ground in grounds)
    first = {looks(Text): Text} | ({looks(Whitespace): Text} if unseen else {})
    return {kind: first.setdefault(looks(kind), kind) for kind in STANDARD_TYPES}


def merged(tokens: Tokens, looks: dict[_TokenType, _TokenType]) -> Iterator[tuple[_TokenType, str]]:
    """Merge neighbouring tokens of the same look; treat Python's dots and assignments as text."""
    last, text = Text, ""
    for kind, value in tokens:
        blank = value.isspace() and looks.get(kind, kind) is Text
        kind = last if blank else Text if kind in Operator and value in (".", "=") else looks.get(kind, kind)
        if kind is not last and text:
            yield last, text
            text = ""
        last, text = kind, text + value
    if text:
        yield last, text


class LeanFormatter(HtmlFormatter):
    """HTML of code with elements only where the look changes."""

    looks: dict[_TokenType, _TokenType]

    def _format_lines(self, tokensource: Tokens) -> Iterator[tuple[int, str]]:
        return super()._format_lines(merged(tokensource, self.looks))


def lean(body: str) -> str:
    """Remove styles and scripts that are repeated in the body of a page."""
    for pattern, kept in WITHOUT_EFFECT:
        body = pattern.sub(kept, body)
    return OWN.sub(functools.partial(_not_repeated, {"style": [], "script": []}), body)


def _not_repeated(earlier: dict[str, list[str]], own: re.Match[str]) -> str:
    kind, text = own.groups()
    before = [other for other in earlier[kind] if text.startswith(other)]
    if not before:
        earlier[kind].append(text)
        return own[0]
    rest = text.removeprefix(max(before, key=len))
    if kind == "script":
        # The script of the first stepper starts all steppers of the page.
        return own[0] if rest else "<script></script>"
    if rest:
        earlier[kind].append(text)
        return f"<style>{rest}</style>"
    return ""


def _choose_colours(_app: Sphinx, config: Any) -> None:
    names = [config.html_theme_options.get(option) for option in STYLES]
    LeanFormatter.looks = same_looks(get_style_by_name(name) for name in names if name)
    PygmentsBridge.html_formatter = LeanFormatter


def _make_lean(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    if "body" in context:
        context["body"] = lean(context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", _choose_colours)
    app.connect("html-page-context", _make_lean, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
