"""Tell whether a built book is up to date, without Sphinx, which takes longer to start."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from press import ROOT

# What pages are made from. The notebooks' folders are included as a whole, so that a new page needs no entry here, and
# so are the editions, which every page offers.
SOURCES = (
    *("_config.yml", "_toc.yml", "requirements.txt", "book", "chapters", "exercises", "solutions"),
    "_build/editions",
)
# The code that makes pages, and what each of them loads. Sphinx does not know that every page depends on it.
MACHINERY = ("book/_ext", "book/_static", "press/binding")
_SKIPPED = {"__pycache__", ".ipynb_checkpoints"}


def of_sources(root: Path = ROOT) -> dict[str, str]:
    return {"sources": _digest(root, SOURCES), "machinery": _digest(root, MACHINERY, _environment())}


def of_site(html: Path) -> str:
    found = sorted((str(path.relative_to(html)), path.stat()) for path in html.rglob("*") if path.is_file())
    lines = [f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in found]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def kept(file: Path) -> dict[str, str]:
    try:
        return dict(json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def keep(file: Path, sources: dict[str, str], html: Path) -> None:
    """Record the digests taken before the build, so that the next build notices files that changed during this one."""
    file.write_text(json.dumps({**sources, "site": of_site(html)}) + "\n", "utf-8")


def _environment() -> Iterator[str]:
    """Everything that a build reads from its environment: variables, and the versions of Python and all packages."""
    yield sys.version
    yield os.environ.get("SOURCE_DATE_EPOCH", "")
    folders = {Path(str(distribution.locate_file(""))) for distribution in importlib.metadata.distributions()}
    for folder in sorted(folders):
        yield from sorted(path.name for path in folder.glob("*.dist-info"))


def _digest(root: Path, names: Iterable[str], more: Iterable[str] = ()) -> str:
    digest = hashlib.sha256("\n".join(more).encode())
    for name in names:
        top = root / name
        files = [top] if top.is_file() else sorted(path for path in top.rglob("*") if path.is_file())
        for path in files:
            if not _SKIPPED & set(path.parts):
                digest.update(f"\n{path.relative_to(root)}\n".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
