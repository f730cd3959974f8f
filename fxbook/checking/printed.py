"""Summarise, in a line or two, what an answer printed: its own text, and Python's warnings."""

from __future__ import annotations

import re

from fxbook.observing.blame import theirs

# The form in which Python writes a warning. The line of code may follow, indented by two spaces.
_WARNING = re.compile(r"(?P<file>.+?):\d+: (?P<said>(?P<kind>\w*Warning): .*)")
_CODE = re.compile(r"  \S")
# These warnings are for the author of the code, who is not the learner if the file belongs to a library.
_OF_WRITERS = ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning")
_MOST_PRINTED, _MOST_WARNED = 100, 300


def told(printed: str) -> list[str]:
    """At most two lines of a report, each cut to one line of text without control characters.

    Warnings about a library's own code are left out, and the others lose their file name.
    """
    own, warned = _parted(printed)
    return [
        *_line("It printed", own, _MOST_PRINTED),
        *_line("It warned", warned, _MOST_WARNED),
    ]


def _parted(printed: str) -> tuple[list[str], list[str]]:
    own: list[str] = []
    warned: list[str] = []
    was_warning = False
    for line in printed.splitlines():
        found = _WARNING.fullmatch(line)
        if found:
            if found["kind"] not in _OF_WRITERS or theirs(found["file"]):
                warned.append(found["said"])
        elif not (was_warning and _CODE.match(line)):
            own.append(line)
        was_warning = found is not None
    return own, warned


def _line(begins: str, lines: list[str], most: int) -> list[str]:
    texts = ["".join(filter(str.isprintable, line.expandtabs(4))).rstrip() for line in lines]
    while texts and not texts[0].strip():
        texts.pop(0)
    if not texts:
        return []
    is_cut = len(texts[0]) > most or any(texts[1:])
    return [f"{begins}: {texts[0][:most].strip()}" + (" …" if is_cut else "")]
