"""Explain what is wrong with a file that is not a notebook, judging by how it begins and ends."""

from __future__ import annotations

import re

# The beginnings of files that are often saved under the name of a notebook.
_OTHER_KINDS = {
    b"%PDF": "it is a PDF",
    b"PK": "it is a zip or an Office document",
    b"\x1f\x8b": "it is a compressed file",
    b"\x89PNG": "it is a picture",
    b"\xff\xd8": "it is a picture",
    b"<": "it is a web page saved from a browser, or another kind of text",
}
_CONFLICT = re.compile(rb"^<<<<<<< ", re.MULTILINE)


def what_is_wrong(data: bytes, error: Exception) -> str:
    """Why a file is not a notebook, as a clause that needs no knowledge of the format."""
    start = data.lstrip()
    if not start.strip(b"\0"):
        return "it is empty" if not data else "it contains only white space"
    if _CONFLICT.search(data):
        return "it contains conflict markers from an unfinished git merge (`<<<<<<<`)"
    for beginning, kind in _OTHER_KINDS.items():
        if start.startswith(beginning):
            return kind
    if isinstance(error, UnicodeDecodeError):
        return "it is not text, or only part of it is"
    if start.startswith(b"{") and not data.rstrip(b"\0 \r\n\t").endswith(b"}"):
        return "it ends too early, as if a download or upload was interrupted"
    if start.startswith((b"{", b"[")):
        return "only part of it is a notebook, as if it was edited by hand"
    return "it is text, but not a notebook"
