"""Fit text into a drawing: make any string safe to show, measure it in columns, and cut or wrap it."""

from __future__ import annotations

import re
import unicodedata

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
# Where a call may be broken: after a character that opens, separates or ends a part.
_BREAKS = frozenset(" ,([{.")


def clean(text: object, limit: int = 400) -> str:
    """The text on one line of at most ``limit`` characters, with control characters escaped and no memory addresses."""
    shown = _ADDRESS.sub("0x…", str(text)[: 2 * limit])
    shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in shown)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def columns(text: str) -> int:
    """How many columns of a fixed-width font the text takes: 2 for East Asian wide, 0 for combining characters."""
    if text.isascii():
        return len(text)
    return sum(_char_columns(char) for char in text)


def _char_columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    # Emoji and symbols from another font are wide in practice, whatever their East Asian width says.
    return 2 if unicodedata.east_asian_width(char) in "WF" or ord(char) >= 0x1F000 else 1


def cut(text: str, width: int) -> str:
    """The text in at most ``width`` columns, with an ellipsis if it was cut."""
    if columns(text) <= width:
        return text
    head, _ = _split(text, width - 1)
    return head.rstrip() + "…"


def wrap(text: str, width: int, lines: int) -> list[str]:
    """The text in at most ``lines`` lines of ``width`` columns, broken where Python code stays readable, then cut."""
    wrapped = []
    while columns(text) > width and len(wrapped) < lines - 1:
        head, tail = _split(text, width)
        at = next((i for i in range(len(head), width // 2, -1) if _may_break(text, i)), len(head))
        wrapped.append(head[:at].rstrip())
        text = head[at:].lstrip() + tail if at < len(head) else tail.lstrip()
    return [*wrapped, cut(text, width)]


def _may_break(text: str, at: int) -> bool:
    # Do not break inside a number.
    return text[at - 1] in _BREAKS and not (text[at - 1] == "." and text[at : at + 1].isdigit())


def pad(text: str, width: int) -> str:
    """The text, cut or padded with spaces to exactly ``width`` columns."""
    text = cut(text, width)
    return text + " " * (width - columns(text))


def _split(text: str, width: int) -> tuple[str, str]:
    used = 0
    for at, char in enumerate(text):
        used += _char_columns(char)
        if used > width:
            return text[:at], text[at:]
    return text, ""
