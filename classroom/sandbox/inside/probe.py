"""Try the confinement without torch and print the findings as JSON; runs in place of ``warm``."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from . import confine

_BOUNDS = confine.Bounds(processor_seconds=5, memory=1 << 26, threads=8, file_bytes=1 << 20, folder_bytes=1 << 20)
_SAMPLES = ("os.py", "torch/__init__.py")
_USER = (1 << 30) + 1


def _tried() -> dict[str, Any]:
    """``{"refused": why}``, or the findings of a confined process; ``bubble`` explains the keys."""
    is_root = os.geteuid() == 0
    read_end, write_end = os.pipe()
    try:
        calls = Path(__file__).with_name("calls.bpf").read_bytes()
        child = confine.Forks().fork()
        if child == 0:
            _confined(is_root, calls, write_end)
    except confine.RefusedError as refused:
        return {"refused": str(refused)}
    os.close(write_end)
    os.waitpid(child, 0)
    with os.fdopen(read_end, encoding="utf-8") as pipe:
        return json.loads(pipe.read() or '{"refused": "the test process ended early"}')


def _confined(is_root: bool, calls: bytes, write_end: int) -> NoReturn:
    findings: dict[str, Any] = {}
    # Checked before, while the process may look everywhere.
    places = (Path(place) for place in sys.path)
    needed = [file for place in places for name in _SAMPLES if (file := place / name).exists()]
    try:
        confine.see_nothing_else(_BOUNDS)
        confine.limit_counts(_BOUNDS)
        confine.give_up_rights(_USER, calls)
        findings["user"] = is_root
        findings["groups"] = len(os.getgroups()) > 0
        findings["stopped"] = os.getpid() == 1 and all(map(_is_stopped, (os.fork, socket.socket, _write)))
        findings["closed"] = [str(file) for file in needed if not os.access(file, os.R_OK)]
    except (confine.RefusedError, OSError) as refused:
        findings = {"refused": str(refused)}
    finally:
        os.write(write_end, json.dumps(findings).encode())
        os._exit(0)


def _write() -> None:
    open("/written", "w").close()  # noqa: PTH123


def _is_stopped(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return True
    return False


def main() -> None:
    print(json.dumps(_tried()))
