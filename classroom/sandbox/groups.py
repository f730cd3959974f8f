"""Limit all resources of a bubble together (processes, files and buffers in memory) with a control group.

Supports cgroups(7) version 2, and version 1 with separate hierarchies for memory and processes. Root creates groups
directly; for other users, the systemd of their session does, if there is one.
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
# Join the groups named before "--", then run the command after it.
_JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 70; shift; done; shift; exec "$@"'


class Group:
    """A group for one bubble.

    Args:
        memory: the limit in bytes for the whole group.
        processes: the limit on processes, including threads.
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
                    # The kernel may not support swap limits.
                    with contextlib.suppress(OSError) if "sw" in file else contextlib.nullcontext():
                        (folder / file).write_text(str(value))
        except OSError:
            self.close()

    @property
    def is_there(self) -> bool:
        """Whether the system created the group; otherwise there is no common limit."""
        return bool(self._folders or self._scope)

    def around(self, command: Sequence[str]) -> list[str]:
        if self._scope:
            return [*self._scope, *command]
        return ["/bin/sh", "-c", _JOIN, "sh", *map(str, self._folders), "--", *command] if self._folders else [*command]

    def close(self) -> None:
        for folder in self._folders:
            for _ in range(_TRIES):
                with contextlib.suppress(OSError):
                    folder.rmdir()
                    break
                time.sleep(_WAIT_SECONDS)
        self._folders = []


@functools.cache
def is_available() -> bool:
    group = Group(64 << 20, 16)
    was_made = group.is_there
    group.close()
    return was_made


def _hierarchies(memory: int, processes: int) -> list[tuple[Path, dict[str, int]]]:
    """The folders to create groups in, and the limits to write there.

    Raises:
        OSError: groups are not available.
    """
    if os.geteuid():
        raise PermissionError("only root creates groups directly")
    if (_ROOT / "cgroup.controllers").exists():
        given = (_ROOT / "cgroup.subtree_control").read_text().split()
        if not {"memory", "pids"} <= set(given):
            raise FileNotFoundError("the kernel does not limit memory here")
        return [(_ROOT, {"memory.max": memory, "memory.swap.max": 0, "pids.max": processes})]
    of_memory = {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory}
    return [(_own("memory"), of_memory), (_own("pids"), {"pids.max": processes})]


def _own(controller: str) -> Path:
    """This process's folder in a version 1 hierarchy; in a container, it may be the top."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            own = _ROOT / controller / path.lstrip("/")
            return own if own.is_dir() else _ROOT / controller
    raise FileNotFoundError(f"there is no hierarchy for {controller}")


def _sweep(parent: Path) -> None:
    """Remove groups of killed graders; a group in use cannot be removed."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(folder.name.removeprefix(_PREFIX).partition("-")[0]), 0)
            continue
        with contextlib.suppress(OSError):
            folder.rmdir()


_SCOPE = ("systemd-run", "--user", "--scope", "--quiet", "--collect")


@functools.cache
def _by_systemd() -> bool:
    if not os.geteuid() or not shutil.which(_SCOPE[0]) or "XDG_RUNTIME_DIR" not in os.environ:
        return False
    tried = [*_SCOPE, "--property=MemoryMax=64M", "--property=TasksMax=16", "--", "true"]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(tried, capture_output=True, timeout=10).returncode == 0
    return False
