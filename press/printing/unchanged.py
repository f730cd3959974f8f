"""Tell whether any file has changed since the last run of `make notebooks`, without parsing anything."""

from __future__ import annotations

import hashlib
import sys
from importlib import metadata
from pathlib import Path

from press import ROOT

_STAMP = Path("_build", ".generated")
# Generated files, their sources, and the code that generates them.
_OF_A_BOOK = ("book/**/*.md", "book/reference/**/*.*", "fxbook/tasks/**/*.*", "fxbook/*.json", "chapters/**/*.*",
              "exercises/*.ipynb", "solutions/*.ipynb", "requirements.txt", "_config.yml", "pyproject.toml",
              "CHANGELOG.md", "CITATION.cff")  # fmt: skip
_OF_THE_PRESS = "press/**/*.py"


def since_the_last_run(root: Path) -> bool:
    """Whether every file of the book and the press is as it was after the last complete run."""
    stamp = root / _STAMP
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _digest(root)


def remember(root: Path) -> None:
    stamp = root / _STAMP
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(_digest(root), encoding="utf-8")


def _digest(root: Path) -> str:
    """A digest of names and contents, and of the versions that the API index and the outputs depend on."""
    sha = hashlib.sha256(f"{sys.version} {metadata.version('torch')}".encode())
    paths = {path for pattern in _OF_A_BOOK for path in root.glob(pattern)} | set(ROOT.glob(_OF_THE_PRESS))
    for path in sorted(path for path in paths if path.is_file() and path.suffix != ".pyc"):
        data = path.read_bytes()
        sha.update(f"{path.name} {path.parent.name} {len(data)} ".encode() + data)
    return sha.hexdigest()
