"""Define harm in one place: an attack may end in any way, as long as it does no harm.

Whether an attack ends by timeout, crash, error or wrong answer depends on the machine and is not harm. Harm is:

- an unearned mark;
- something left behind or changed: a file, a temporary folder, shared memory, a socket;
- something that keeps running;
- reading a secret, or doing something forbidden: the secret appears in the output, or the attack reports its success;
- contact with others on this machine;
- damage to the next submission.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from press import ROOT

MARK = "a mark that was not earned"
LEFT = "something left behind"
RUNS = "something runs on"
READ = "something read or done"
TOLD = "contact with others"
NEXT = "the next submission suffers"

# Attacks put this text into the name of every file, process, queue and socket they make, and use this number for
# objects named by a number.
TRACE = "by-an-attack"
TRACE_KEY = 0x0BADBEEF
_LOOKED_AT = ("/", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/dev/mqueue", "/usr", "/usr/lib", "/etc", "/root", "/home")
_LOOKED_AT += ("/run", "/srv")
_VARIABLE = "GRADERS_TOKEN"


@dataclasses.dataclass(frozen=True)
class Came:
    """The result of an attack.

    Args:
        text: all output, and everything that anybody is told because of it.
        passed: whether it got a mark.
        managed: what it claims to have read or done.
    """

    text: str
    passed: bool = False
    managed: Sequence[str] = ()


class Bait:
    """Targets for attacks: secrets, a folder of the grader, and listening sockets.

    As a context manager, put a secret into the environment; start a sandbox while it is there.

    Args:
        folder: empty, and visible only to the grader.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.in_file, self.in_environment = secrets.token_hex(8), secrets.token_hex(8)
        # The secret of an earlier submission. The attack that searches memory knows its form, but not its digits.
        self.earlier = f"secret-{secrets.randbelow(10**12):012}"
        (folder / "secret.txt").write_text(self.in_file)
        (folder / "09_profiling.ipynb").write_text("{}")
        self._content = _content(folder)
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._local = socket.socket(socket.AF_UNIX)
        self._name = f"bait-{secrets.token_hex(8)}"
        self._local.bind(f"\0{self._name}")
        self._local.listen()
        for ear in (self._tcp, self._udp, self._local):
            ear.setblocking(False)

    def laid(self, source: str) -> str:
        """The source of an attack with real values for ``@FOLDER@`` and the other placeholders."""
        places = {"FOLDER": self.folder, "PROJECT": ROOT, "LOCAL": self._name, "TRACE_KEY": TRACE_KEY}
        places |= {"TCP": self._tcp.getsockname()[1], "UDP": self._udp.getsockname()[1]}
        for name, place in places.items():
            source = source.replace(f"@{name}@", str(place))
        return source

    def __enter__(self) -> Bait:
        os.environ[_VARIABLE] = self.in_environment
        return self

    def __exit__(self, *_: object) -> None:
        del os.environ[_VARIABLE]
        for ear in (self._tcp, self._udp, self._local):
            ear.close()

    def found_in(self, text: str) -> list[str]:
        """The secrets that a text contains."""
        known = {"file": self.in_file, "environment": self.in_environment, "earlier submission": self.earlier}
        return [f"the secret of the {name} came out" for name, secret in known.items() if secret in text]

    def changes(self) -> list[str]:
        """Paths in the folder that were changed, added or removed."""
        now, before = _content(self.folder), self._content
        return [str(path) for path in sorted(now.keys() | before.keys()) if now.get(path) != before.get(path)]

    def heard(self) -> list[str]:
        """The sockets that were reached since the last call."""
        reached = []
        for name, hear in (
            ("TCP", lambda: self._tcp.accept()[0].close()),
            ("UDP", lambda: self._udp.recv(1 << 16)),
            ("a local socket", lambda: self._local.accept()[0].close()),
        ):
            with contextlib.suppress(BlockingIOError):
                while True:
                    hear()
                    reached.append(f"reached by {name}")
        return reached


@contextlib.contextmanager
def laid(folders: pytest.TempPathFactory) -> Iterator[Bait]:
    """Targets, with a separate folder for this process's temporary files, so that leftovers are noticed."""
    with Bait(folders.mktemp("class")) as bait, pytest.MonkeyPatch.context() as patched:
        patched.setattr(tempfile, "tempdir", str(folders.mktemp("temporary")))
        yield bait


class Watch:
    """Check this machine for harm after each attack.

    Create it when everything is warm: processes started later count as left by an attack, unless they replace others.
    Meanwhile, this process must not start other processes or create temporary files.

    Args:
        bait: the targets.
        suffers: checks the next submission; returns what is wrong, or ``""``.
        patience: the seconds within which processes must end; a slow machine needs many.
    """

    def __init__(self, bait: Bait, suffers: Callable[[], str], patience: float = 300.0) -> None:
        self._bait, self._suffers, self._patience = bait, suffers, patience
        self._temporary = set(Path(tempfile.gettempdir()).iterdir())
        self._running = len(processes_below(os.getpid()))

    def harms(self, came: Came) -> list[str]:
        """The harm done, one line each."""
        harms = [(MARK, "it passed")] * came.passed
        harms += [(READ, what) for what in (*came.managed, *self._bait.found_in(came.text))]
        harms += [(RUNS, what) for what in self._running_on()]
        harms += [(LEFT, what) for what in (*self._left(), *self._bait.changes())]
        harms += [(TOLD, what) for what in self._bait.heard()]
        harms += [(NEXT, what) for what in [self._suffers()] if what]
        return [f"{kind}: {what}" for kind, what in harms]

    def _running_on(self) -> list[str]:
        until = time.monotonic() + self._patience
        while True:
            more = len(processes_below(os.getpid())) - self._running
            running = [f"{more} processes of the grader"] * (more > 0) + _traced_processes()
            if not running or time.monotonic() > until:
                return running
            time.sleep(0.02)

    def _left(self) -> list[str]:
        leftovers = [*traces(), *(set(Path(tempfile.gettempdir()).iterdir()) - self._temporary)]
        return [*map(str, leftovers), *_traced_in_the_kernel()]


def traces() -> list[Path]:
    """Files of attacks in all likely places."""
    folders = {*map(Path, _LOOKED_AT), Path.home(), Path.cwd(), ROOT, ROOT / "fxbook", Path(tempfile.gettempdir())}
    folders |= {Path(sys.prefix), Path(sys.base_prefix), Path(os.__file__).parent, *map(Path, sys.path)}
    readable = [folder for folder in folders if os.access(folder, os.R_OK | os.X_OK)]
    return sorted({path for folder in readable for path in folder.glob(f"*{TRACE}*")})


def processes_below(process: int) -> set[int]:
    """A process and all its descendants."""
    processes = {process}
    with contextlib.suppress(OSError):  # It has ended.
        for thread in Path(f"/proc/{process}/task").iterdir():
            with contextlib.suppress(OSError):
                for child in (thread / "children").read_text().split():
                    processes |= processes_below(int(child))
    return processes


def _traced_processes() -> list[str]:
    processes = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cmdline").read_bytes().startswith(TRACE.encode()):
                processes.append(f"process {process.name}")
    return processes


def _traced_in_the_kernel() -> list[str]:
    """Objects without a file: System V shared memory, queues and semaphores, and abstract sockets."""
    objects = []
    for kind in ("shm", "msg", "sem"):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
            objects += [f"{kind} {line.split()[1]}" for line in lines if int(line.split()[0]) & 0xFFFFFFFF == TRACE_KEY]
    with contextlib.suppress(OSError):
        sockets = Path("/proc/net/unix").read_text().splitlines()
        objects += [line.split()[-1] for line in sockets if f"@{TRACE}" in line]
    return objects


def _content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}
