"""What an answer printed, told in a line or two: what it wrote itself, and what Python warned it of."""

from __future__ import annotations

import re

from fxbook.observing.blame import theirs

# As Python writes a warning. The line of code that it points at may follow, two spaces in.
_WARNING = re.compile(r"(?P<file>.+?):\d+: (?P<said>(?P<kind>\w*Warning): .*)")
_CODE = re.compile(r"  \S")
# Meant for whoever writes the code that is to blame: in a file of a library that is not the learner.
_OF_WRITERS = ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning")
_MOST_PRINTED, _MOST_WARNED = 100, 300


def told(printed: str) -> list[str]:
    """Two lines of a report at most, each of one line of text that is cut and has no control characters.

    Left out are the warnings that concern no line of the learner's, and of the others the file.
    """
    own, warned = _parted(printed)
    return [
        *_line("It printed", own, _MOST_PRINTED),
        *_line("It warned", warned, _MOST_WARNED),
    ]


def _parted(printed: str) -> tuple[list[str], list[str]]:
    """The lines that were printed, and the warnings worth telling."""
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
