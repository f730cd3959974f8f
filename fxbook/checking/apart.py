"""Do work in a forked child with limits, and take back only JSON: whatever the work does, this process stays as it was.

Not protected: files the work may write, the network, and a grandchild that leaves its session. It keeps a notebook
alive; it is not a sandbox for code from strangers, which may use its parts: the limits, the silence, the frame.
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import faulthandler
import functools
import gc
import io
import json
import logging
import math
import os
import secrets
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NoReturn

# Forking on macOS is known to crash in Apple's own frameworks, which torch uses there.
CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"
# Enough for any answer, and little enough to be used up before the time is.
MEMORY = 256 << 20
_MOST_BYTES = 32 << 20
_SPARE = 64 << 20
_FILE = 1 << 20
# An environment variable: so many times longer may an answer take, in a notebook and with the grader.
PATIENCE_VARIABLE = "FXBOOK_PATIENCE"
_MOST_PATIENCE = 100.0
# On a busy machine a child has its seconds later: so many times later at most, where nobody says how long.
_BUSY = 4
_LEAST_PROCESSOR_SECONDS = 10
_POLL_MILLISECONDS = 20
# Less than this share of a processor: it waits rather than works.
_WAITING = 0.15
# Who asks many times a second is never silent for longer, unless the machine stands still, as a virtual one does that
# is moved.
_STANDSTILL = 0.25


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came back: ``data``, or ``None`` with why in ``ended``.

    ``"time"``: it was still running; ``"exit"``: it left by itself; ``"crash"``: a signal ended it; ``"silent"``: it
    closed or flooded the pipe.
    """

    data: Any
    ended: str = ""


def patience() -> float:
    """How many times longer than usual an answer may take, told by the environment of a slow machine; else 1."""
    with contextlib.suppress(ValueError):
        # In this order, what is not a number gives 1.
        return min(max(1.0, float(os.environ.get(PATIENCE_VARIABLE, ""))), _MOST_PATIENCE)
    return 1.0


def run_apart(
    work: Callable[[], Any], seconds: float, keep: Collection[int] = (), longest: float | None = None
) -> Outcome:
    """Call ``work`` in a forked child; what it returns must be JSON.

    Args:
        work: returns plain data. It sees everything this process holds; nothing that it changes comes back.
        seconds: limit, after which the child and its process group are killed; see :func:`had_its_time`.
        keep: descriptors that it may use.
        longest: the most seconds that anybody waits for it, however busy the machine is.
    """
    elapsed = Elapsed()
    mark = secrets.token_hex(16).encode()
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of forking beside threads: the child only ever runs the thread that forked.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        most = _BUSY * seconds if longest is None else longest
        _be_the_child(work, write_end, mark, keep, max(_LEAST_PROCESSOR_SECONDS, math.ceil(most) + 1))
    os.close(write_end)
    try:
        over = functools.partial(_over, child, elapsed, seconds, longest)
        frame, timed_out = read_frame(read_end, mark, over)
        ended = "time" if timed_out else _how_it_ended(child)
    finally:
        os.close(read_end)
        _end(child)
    with contextlib.suppress(ValueError):
        if frame is not None:
            return Outcome(json.loads(frame))
    return Outcome(None, ended)


class Elapsed:
    """Seconds since this was made, without those in which the machine stood still; to be asked many times a second."""

    def __init__(self) -> None:
        self._seconds, self._asked = 0.0, time.monotonic()

    def __call__(self) -> float:
        """The seconds, of which those since the last question count up to a fourth of one."""
        now = time.monotonic()
        self._seconds += min(now - self._asked, _STANDSTILL)
        self._asked = now
        return self._seconds


def had_its_time(
    elapsed: float, used: float, seconds: float, longest: float | None = None, delayed: float | None = None
) -> bool:
    """Whether work that began so long ago, and has used so much of a processor since, has had its seconds.

    It has when it used them up, and when it waits for something. It has not while others keep it from the processor,
    which took ``delayed`` seconds; where the system does not tell that, work that used little is taken to wait.
    """
    most = _BUSY * seconds if longest is None else longest
    if elapsed >= most or used >= seconds:
        return True
    # What waits for a reader that has no processor works as well.
    return elapsed - (delayed or 0.0) >= seconds and used <= _WAITING * elapsed


def seconds_delayed(process: int | str) -> float | None:
    """How long a process could have run and had no processor, ``None`` where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9
    return None


def _over(child: int, elapsed: Elapsed, seconds: float, longest: float | None) -> bool:
    so_far = elapsed()
    if so_far < min(seconds, seconds if longest is None else longest):
        return False
    return had_its_time(so_far, _processor_seconds(child), seconds, longest, seconds_delayed(child))


def _processor_seconds(process: int) -> float:
    """Processor time of another process so far; 0, as if it waited, where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


# The exit status of a child that was not stopped by the work itself.
REGULAR = 87


def _be_the_child(
    work: Callable[[], Any], write_end: int, mark: bytes, keep: Collection[int], processor_seconds: int
) -> NoReturn:
    """What the child does."""

    def limited() -> Any:
        os.setsid()
        use_one_thread()
        gc.freeze()
        limit(seconds=processor_seconds)
        mute(keep={write_end, *keep})
        return work()

    send_and_leave(limited, write_end, mark)


def use_one_thread() -> None:
    """In a child, before anything else of torch: its threads did not come along, and waiting for them never ends."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def send_and_leave(work: Callable[[], Any], write_end: int, mark: bytes) -> NoReturn:
    """Do the work, send what it returns, for :func:`read_frame`, and end the process, whatever the work does to it."""
    # Taken before the work runs, which may replace them: a child that returned from here would be a second kernel.
    leave, deliver = os._exit, send
    try:
        deliver(write_end, work(), mark)
    finally:
        while True:
            try:
                leave(REGULAR)
            except BaseException:
                continue


def send(
    descriptor: int,
    data: Any,
    mark: bytes,
    write: Callable[[int, Any], int] = os.write,
    dumps: Callable[[Any], str] = json.dumps,
) -> None:
    """Write JSON as a frame for :func:`read_frame`."""
    frame = dumps(data).encode()
    pending = memoryview(mark + b"%016x" % len(frame) + frame)
    while pending:
        pending = pending[write(descriptor, pending) :]


def limit(memory: int = MEMORY, seconds: int = _LEAST_PROCESSOR_SECONDS, file_bytes: int = _FILE) -> None:
    """Limit this process: memory besides what it has, in bytes; processor time; the size of a file that it writes."""
    import resource

    used = 0
    with contextlib.suppress(OSError, ValueError):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    wanted = {
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (file_bytes, file_bytes),
        resource.RLIMIT_CPU: (seconds, seconds),
    }
    if used:
        wanted[resource.RLIMIT_AS] = (used + memory, used + memory + _SPARE)
    for kind, (soft, hard) in wanted.items():
        allowed = resource.getrlimit(kind)[1]
        if allowed != resource.RLIM_INFINITY:
            soft, hard = min(soft, allowed), min(hard, allowed)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (soft, hard))


def spare_memory() -> None:
    """In a child that has used up its memory: allow a little more, enough to say so."""
    if CAN_FORK:
        import resource

        with contextlib.suppress(OSError, ValueError):
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def mute(keep: set[int]) -> None:
    """Let nothing that the child writes, but on these descriptors, reach the terminal, a file or the notebook."""
    if faulthandler.is_enabled():
        faulthandler.disable()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in _open_descriptors():
        if descriptor not in keep:
            with contextlib.suppress(OSError):
                os.dup2(nowhere, descriptor)
    sys.stdin = sys.__stdin__ = io.StringIO()
    sys.stdout = sys.__stdout__ = sys.stderr = sys.__stderr__ = io.StringIO()
    logging.disable()
    # A notebook's input() and display() reach the browser through sockets that belong to the parent.
    builtins.input = _no_input
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if hasattr(shell, "kernel"):
        shell.kernel.session.send = _send_nothing


def _open_descriptors() -> list[int]:
    with contextlib.suppress(OSError):
        return [int(name) for name in os.listdir("/proc/self/fd")]  # noqa: PTH208
    return list(range(256))


def _no_input(*_: object) -> str:
    raise RuntimeError("input() cannot ask anybody during a check")


def _send_nothing(*_: object, **__: object) -> None:
    """Stands for the kernel's session in the child."""


def read_frame(
    descriptor: int, mark: bytes, over: Callable[[], bool], most: int = _MOST_BYTES
) -> tuple[bytes | None, bool]:
    """The child's frame, or ``None``; and whether time ran out. Bytes around the frame are ignored.

    Args:
        descriptor: the end of the pipe to read.
        mark: begins the frame; it is random, so that nothing else does.
        over: whether time is out; asked many times a second.
        most: so many bytes are read; a child that sends more has flooded the pipe.
    """
    os.set_blocking(descriptor, False)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    data = bytearray()
    start = -1
    while len(data) <= most:
        if over():
            return None, True
        if not poll.poll(_POLL_MILLISECONDS):
            continue
        try:
            chunk = os.read(descriptor, 1 << 20)
        except BlockingIOError:
            continue
        if not chunk:
            return None, False
        searched = max(0, len(data) - len(mark))
        data += chunk
        start = start if start >= 0 else data.find(mark, searched)
        body = start + len(mark) + 16
        if start >= 0 and len(data) >= body:
            try:
                length = int(data[body - 16 : body], 16)
            except ValueError:  # Not ours: the work has found the mark.
                return None, False
            if len(data) >= body + length:
                return bytes(data[body : body + length]), False
    return None, False


def _how_it_ended(child: int) -> str:
    """How a child that closed its end of the pipe ended, if it does within a moment; it is not reaped here."""
    for _ in range(50):
        try:
            found = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        except ChildProcessError:
            break
        if found is not None:
            regular = found.si_code == os.CLD_EXITED and found.si_status == REGULAR
            return "silent" if regular else "exit" if found.si_code == os.CLD_EXITED else "crash"
        time.sleep(0.002)
    return "silent"


def _end(child: int) -> None:
    """Kill the child's whole group and reap it; the group goes first, while its number is still taken."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)
