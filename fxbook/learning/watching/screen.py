"""Fit text to a terminal: break lines between words, and show a screenful at each key press."""

from __future__ import annotations

import dataclasses
import shutil
import sys
import textwrap
from collections.abc import Sequence

_CLEAR, _CLEAR_LINE = "\x1b[H\x1b[2J", "\r\x1b[K"
_LEAST_COLUMNS = 20


@dataclasses.dataclass(frozen=True)
class Size:
    columns: int
    rows: int


def size() -> Size | None:
    """The size of the terminal; ``None`` if the output does not go to a terminal."""
    if not sys.stdout.isatty():
        return None
    found = shutil.get_terminal_size()
    return Size(found.columns, found.lines)


def lines(text: str, columns: int) -> list[str]:
    """Break text between words into lines of at most ``columns``; a continuation is indented by two more.

    Only a word that is longer than a line is broken.
    """
    found = []
    for line in text.split("\n"):
        plain = "".join(sign if sign.isprintable() else " " for sign in line.expandtabs(4))
        indent = plain[: len(plain) - len(plain.lstrip())]
        # A deep indent would leave too little room for words.
        indent = indent if len(indent) < columns // 2 else ""
        wrapper = textwrap.TextWrapper(
            columns,
            subsequent_indent=f"{indent}  ",
            break_long_words=False,
            break_on_hyphens=False,
            replace_whitespace=False,
        )
        for part in wrapper.wrap(plain) or [""]:
            part = part if len(part) <= columns else part.strip()
            found += [part[at : at + columns] for at in range(0, max(len(part), 1), columns)]
    return found


def fitted(head: str, body: str, keys: str, size: Size, first: int = 0) -> tuple[list[str], int]:
    """The lines of a screen: always the head and the keys, and as much of the body as fits, from its line ``first`` on.

    Returns:
        The lines, and the first line of the next part of the body; 0 if this is the last.
    """
    # A terminal may go to the next line once the last column is written.
    columns = max(size.columns - 1, _LEAST_COLUMNS)
    top, bottom = [*lines(head, columns), ""], ["", *lines(keys, columns)]
    # If there is not enough room, the least important lines are dropped first.
    while len(top) + len(bottom) + 2 > size.rows and (len(bottom) > 1 or len(top) > 1):
        (bottom if len(bottom) > 1 else top).pop(0 if not bottom[0] else -1)
    middle = lines(body, columns)
    first = first if first < len(middle) else 0
    room = max(size.rows - len(top) - len(bottom), 1)
    if first == 0 and len(middle) <= room:
        return [*top, *middle, *bottom][: size.rows], 0
    shown = middle[first : first + max(room - 1, 1)]
    left = len(middle) - first - len(shown)
    counted = (
        f"… {left} more {'line' if left == 1 else 'lines'}: press space" if left else "The end. Space: back to the top"
    )
    return [*top, *shown, *lines(counted, columns)[:1], *bottom][: size.rows], (first + len(shown) if left else 0)


def show(screen: Sequence[str]) -> None:
    # A newline after the last line would scroll the first one away.
    print(_CLEAR + "\n".join(screen), end="", flush=True)


def note(text: str, size: Size | None) -> None:
    """Print one line at once; on a terminal, it replaces the previous one."""
    if size:
        print(_CLEAR_LINE + lines(text, max(size.columns - 1, _LEAST_COLUMNS))[0], end="", flush=True)
    else:
        print(text, flush=True)
