"""Which torch is installed here, without importing it."""

from __future__ import annotations

import functools
import re
from importlib import metadata


@functools.cache
def installed() -> str:
    """``"2.13.0+cpu"``, or ``""`` if torch is not installed."""
    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return ""


def minor(version: str) -> tuple[int, ...]:
    """``(2, 13)`` for ``"2.13.0+cpu"``; empty for a version in another form."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return tuple(map(int, found.groups())) if found else ()
