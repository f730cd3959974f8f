"""Join the scripts of a lab into one: each module becomes a function that runs once, in import order."""

from __future__ import annotations

import functools
import re
from pathlib import Path

_PAGE = Path(__file__).parent / "page"
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";\n', re.M)
_EXPORT = re.compile(r"^export (?:const|class) (\w+)", re.M)
_COMMENT = re.compile(r"^\s*(?://.*|/\*\*.*\*/|\*.*|/\*\*)$")


@functools.cache
def script() -> str:
    """The script is always the same bytes, so that a page with many labs contains it once."""
    order: list[str] = []

    def visit(name: str) -> None:
        if name not in order:
            for _, other in _IMPORT.findall((_PAGE / f"{name}.js").read_text(encoding="utf-8")):
                visit(other)
            order.append(name)

    visit("start")
    return f'(() => {{\n"use strict";\n{"".join(map(_module, order))}}})();'


def _module(name: str) -> str:
    text = (_PAGE / f"{name}.js").read_text(encoding="utf-8")
    exported = ", ".join(_EXPORT.findall(text))
    text = _IMPORT.sub(r"const \1 = \2Module;\n", text)
    text = re.sub(r"^export ", "", text, flags=re.M)
    lines = (line.strip() for line in text.splitlines() if not _COMMENT.match(line))
    return f"const {name}Module = (() => {{\n{chr(10).join(filter(None, lines))}\nreturn {{{exported}}};\n}})();\n"


@functools.cache
def lab_style() -> str:
    return (_PAGE / "lab.css").read_text(encoding="utf-8")
