"""Write the pins: those of whoever runs the notebooks, and apart from them those that only teachers add."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from press import ROOT

# Of the extras in pyproject.toml the one that a reader never needs.
TEACHERS = "classroom"
CORE, BEYOND = ROOT / "requirements.txt", ROOT / "classroom" / "requirements.txt"
_HEADING = """\
# What `python -m press test` and some options of `python -m classroom` need beyond ../requirements.txt: the systems
# that teachers use. Written by `python -m press pins` from the extra `classroom` of pyproject.toml.
"""


def write() -> int:
    """Choose the newest versions that fit together, and pin them; return the exit status of the tool that chooses."""
    if status := _run("-m", "pip", "install", "--quiet", "uv"):
        return status
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [extra for extra in project["optional-dependencies"] if extra != TEACHERS]
    return _compile(CORE, extras, "--upgrade") or _write_beyond([*extras, TEACHERS])


def _write_beyond(extras: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        every = Path(folder) / "every.txt"
        if status := _compile(every, extras, "--constraint", str(CORE)):
            return status
        core = _blocks(CORE.read_text(encoding="utf-8"))
        beyond = [lines for pin, lines in _blocks(every.read_text(encoding="utf-8")).items() if pin not in core]
    BEYOND.write_text(_HEADING + "".join(beyond), encoding="utf-8")
    return 0


def _compile(out: Path, extras: list[str], *options: str) -> int:
    compile_pins = ["pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
    asked = [part for extra in extras for part in ("--extra", extra)]
    told = ["--custom-compile-command", "python -m press pins", "--output-file", str(out)]
    return _run("-m", "uv", *compile_pins, *asked, *told, *options, "pyproject.toml")


def _blocks(text: str) -> dict[str, str]:
    """Each pin with the comment under it that says what asked for it."""
    blocks: dict[str, str] = {}
    pin = ""
    for line in text.splitlines(keepends=True):
        if not line.lstrip().startswith("#"):
            pin = line.strip()
        if pin:
            blocks[pin] = blocks.get(pin, "") + line
    return blocks


def _run(*arguments: str) -> int:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT).returncode
