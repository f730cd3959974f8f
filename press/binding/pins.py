"""Write the pins: those for the book, and separately those that only teachers need."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from press import ROOT

TEACHERS = ROOT / "classroom"
CORE, BEYOND = ROOT / "requirements.txt", TEACHERS / "requirements.txt"
_HEADING = """\
# What `python -m press test` and some options of `python -m classroom` need beyond ../requirements.txt: the systems
# that teachers use. Written by `python -m press pins` from the extras of the pyproject.toml in this folder.
"""


def write() -> int:
    """Choose the newest compatible versions, and pin them; return the exit status of pip or uv."""
    if status := _run("-m", "pip", "install", "--quiet", "uv"):
        return status
    book, teachers = _project(ROOT), _project(TEACHERS)
    extras = list(book["optional-dependencies"])
    grading = [name for name in teachers["dependencies"] if not name.startswith(book["name"])]
    systems = [name for names in teachers["optional-dependencies"].values() for name in names]
    with tempfile.TemporaryDirectory() as folder:
        every = Path(folder) / "every.txt"
        if status := _compile(CORE, extras, grading, "--upgrade"):
            return status
        if status := _compile(every, extras, [*grading, *systems], "--constraint", str(CORE)):
            return status
        core = _blocks(CORE.read_text(encoding="utf-8"))
        beyond = [lines for pin, lines in _blocks(every.read_text(encoding="utf-8")).items() if pin not in core]
    BEYOND.write_text(_HEADING + "".join(beyond), encoding="utf-8")
    return 0


def _compile(out: Path, extras: list[str], more: list[str], *options: str) -> int:
    compile_pins = ["pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
    chosen = [part for extra in extras for part in ("--extra", extra)]
    output = ["--custom-compile-command", "python -m press pins", "--output-file", str(out)]
    with tempfile.TemporaryDirectory() as folder:
        needs = Path(folder) / "needs.in"
        needs.write_text("\n".join(more), encoding="utf-8")
        status = _run("-m", "uv", *compile_pins, *chosen, *output, *options, "pyproject.toml", str(needs))
        if not status:
            reason = f"{_project(TEACHERS)['name']} (classroom/pyproject.toml)"
            text = out.read_text(encoding="utf-8")
            out.write_text(text.replace(f"-r {needs}", reason), encoding="utf-8")
    return status


def _project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _blocks(text: str) -> dict[str, str]:
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
