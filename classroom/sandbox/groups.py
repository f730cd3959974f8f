"""Bound together what all of a bubble uses, its processes, files and buffers in memory: a control group of the kernel.

Both kinds are known, see cgroups(7): one hierarchy of version 2, or one of version 1 for each of memory and processes.
Root makes a group itself; for others the systemd of their session does, where there is one.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "fxbook-"
_TRIES, _WAIT_SECONDS = 50, 0.02
_numbers = itertools.count()
# Joins the groups named before "--", then becomes the command after it.
_JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 70; shift; done; shift; exec "$@"'


class Group:
    """A group for one bubble.

    Args:
        memory: bytes, of all that is in it.
        processes: how many, threads included.
    """

    def __init__(self, memory: int, processes: int) -> None:
        self._folders: list[Path] = []
        self._scope: list[str] = []
        if _by_systemd():
            bounds = (f"MemoryMax={memory}", "MemorySwapMax=0", f"TasksMax={processes}")
            self._scope = [*_SCOPE, *(f"--property={bound}" for bound in bounds), "--"]
            return
        name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        try:
            for parent, limits in _hierarchies(memory, processes):
                _sweep(parent)
                folder = parent / name
                folder.mkdir()
                self._folders.append(folder)
                for file, value in limits.items():
                    # Of swap a kernel may know nothing.
                    with contextlib.suppress(OSError) if "sw" in file else contextlib.nullcontext():
                        (folder / file).write_text(str(value))
        except OSError:
            self.close()

    @property
    def is_there(self) -> bool:
        """Whether the system has made it; where it has not, nothing is bounded together."""
        return bool(self._folders or self._scope)

    def around(self, command: Sequence[str]) -> list[str]:
        """The command, run inside."""
        if self._scope:
            return [*self._scope, *command]
        return ["/bin/sh", "-c", _JOIN, "sh", *map(str, self._folders), "--", *command] if self._folders else [*command]

    def close(self) -> None:
        """Remove it, once what was in it has ended."""
        for folder in self._folders:
            for _ in range(_TRIES):
                with contextlib.suppress(OSError):
                    folder.rmdir()
                    break
                time.sleep(_WAIT_SECONDS)
        self._folders = []


@functools.cache
def is_available() -> bool:
    """Whether this machine makes groups."""
    group = Group(64 << 20, 16)
    was_made = group.is_there
    group.close()
    return was_made


def _hierarchies(memory: int, processes: int) -> list[tuple[Path, dict[str, int]]]:
    """Where groups are made, and what is written there.

    Raises:
        OSError: nowhere.
    """
    if os.geteuid():
        raise PermissionError("only root makes groups by itself")
    if (_ROOT / "cgroup.controllers").exists():
        given = (_ROOT / "cgroup.subtree_control").read_text().split()
        if not {"memory", "pids"} <= set(given):
            raise FileNotFoundError("the kernel bounds no memory here")
        return [(_ROOT, {"memory.max": memory, "memory.swap.max": 0, "pids.max": processes})]
    of_memory = {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory}
    return [(_own("memory"), of_memory), (_own("pids"), {"pids.max": processes})]


def _own(controller: str) -> Path:
    """The folder of this process in a hierarchy of version 1; in a container it may be the top."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            own = _ROOT / controller / path.lstrip("/")
            return own if own.is_dir() else _ROOT / controller
    raise FileNotFoundError(f"there is no hierarchy for {controller}")


def _sweep(parent: Path) -> None:
    """Remove the groups of graders that were killed; one that is in use cannot be removed."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(folder.name.removeprefix(_PREFIX).partition("-")[0]), 0)
            continue
        with contextlib.suppress(OSError):
            folder.rmdir()


_SCOPE = ("systemd-run", "--user", "--scope", "--quiet", "--collect")


@functools.cache
def _by_systemd() -> bool:
    """Whether the systemd of the user's session makes groups."""
    if not os.geteuid() or not shutil.which(_SCOPE[0]) or "XDG_RUNTIME_DIR" not in os.environ:
        return False
    tried = [*_SCOPE, "--property=MemoryMax=64M", "--property=TasksMax=16", "--", "true"]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(tried, capture_output=True, timeout=10).returncode == 0
    return False
