"""Do work in a forked child with limits, and accept only JSON from it, so that the work cannot change this process.

It does not restrict files, the network, or a grandchild that leaves its session. It keeps a notebook alive, but is not
a sandbox for untrusted code. A sandbox can reuse its parts: the limits, the muting and the framed result.
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import faulthandler
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

# On macOS, Apple's own frameworks, which torch uses, are known to crash after a fork.
CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"
# Code may wait, and the machine may be busy: in a notebook, the limit on wall time is this many times as long.
WALL_PER_PROCESSOR_SECOND = 6
# This is enough for any answer, but a leak reaches it before the time limit.
MEMORY = 256 << 20
_MOST_BYTES = 32 << 20
_SPARE = 64 << 20
_FILE = 1 << 20


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The child's result: ``data``, or ``None`` with the reason in ``ended``.

    ``"time"``: it was still running; ``"exit"``: it exited by itself; ``"crash"``: a signal ended it; ``"silent"``: it
    closed or flooded the pipe.
    """

    data: Any
    ended: str = ""


def run_in_child(
    work: Callable[[], Any], seconds: float, keep: Collection[int] = (), processor_seconds: float | None = None
) -> Outcome:
    """Call ``work`` in a forked child; what it returns must be JSON.

    Args:
        work: returns plain data. It sees everything in this process, but cannot change it.
        seconds: wall time, after which the child and its process group are killed.
        keep: descriptors that the child may use.
        processor_seconds: processor time, after which the child also ends. Default: ``seconds``.
    """
    processor_seconds = seconds if processor_seconds is None else processor_seconds
    deadline = time.monotonic() + seconds
    mark = secrets.token_hex(16).encode()
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of forking with several threads, but the child runs only the thread that forked.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _be_the_child(work, write_end, mark, keep, processor_seconds)
    os.close(write_end)
    try:
        try:
            frame, timed_out = read_frame(read_end, mark, deadline)
        finally:
            # A child that floods the pipe ends at the next write.
            os.close(read_end)
        ended = "silent" if frame is not None else "time" if timed_out else _how_it_ended(child, deadline)
    finally:
        used = _end(child)
    if ended == "crash" and used >= processor_seconds:
        ended = "time"
    with contextlib.suppress(ValueError):
        if frame is not None:
            return Outcome(json.loads(frame))
    return Outcome(None, ended)


# The exit status of a child that has ended as intended.
REGULAR = 87


def _be_the_child(
    work: Callable[[], Any], write_end: int, mark: bytes, keep: Collection[int], processor_seconds: float
) -> NoReturn:
    def limited() -> Any:
        os.setsid()
        use_one_thread()
        gc.freeze()
        limit(processor_seconds)
        mute(keep={write_end, *keep})
        return work()

    send_and_leave(limited, write_end, mark)


def use_one_thread() -> None:
    """Use one thread in a forked child: torch's other threads do not exist there, and waiting for them would hang."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def send_and_leave(work: Callable[[], Any], write_end: int, mark: bytes) -> NoReturn:
    """Do the work, send its result for :func:`read_frame`, and end the process, whatever the work does."""
    # Looked up now, because the work may replace these functions: a child that returned from here would be a second
    # kernel.
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
    frame = dumps(data).encode()
    pending = memoryview(mark + b"%016x" % len(frame) + frame)
    while pending:
        pending = pending[write(descriptor, pending) :]


def limit(processor_seconds: float, memory: int = MEMORY, file_bytes: int = _FILE) -> None:
    """Limit this process: processor time, additional memory in bytes, and the size of any file that it writes.

    When the processor time is used up, the process gets SIGXCPU, which :func:`fxbook.observing.observe.observe`
    handles. A second later, the kernel kills it.
    """
    import resource

    used, soft = 0, math.ceil(processor_seconds)
    with contextlib.suppress(OSError, ValueError):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    wanted = {
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (file_bytes, file_bytes),
        resource.RLIMIT_CPU: (soft, soft + 1),
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
    """Raise the limit a little in a child that is out of memory, so that it can report that."""
    if CAN_FORK:
        import resource

        with contextlib.suppress(OSError, ValueError):
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def mute(keep: set[int]) -> None:
    """Redirect all but these descriptors to /dev/null, so that the child writes to no terminal, file or notebook."""
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
    """Replaces ``send`` of the kernel's session in the child."""


def read_frame(descriptor: int, mark: bytes, deadline: float, most: int = _MOST_BYTES) -> tuple[bytes | None, bool]:
    """The child's frame, or ``None``; and whether time ran out. Bytes around the frame are ignored.

    ``mark`` is the random bytes that begin the frame, ``deadline`` a time on the clock of ``time.monotonic()``. A child
    that sends more than ``most`` bytes has flooded the pipe.
    """
    os.set_blocking(descriptor, False)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    data = bytearray()
    start = -1
    while len(data) <= most:
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(None if left == math.inf else math.ceil(1000 * left)):
            return None, True
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
            except ValueError:  # Not our frame: the work has found the mark.
                return None, False
            if len(data) >= body + length:
                return bytes(data[body : body + length]), False
    return None, False


def _how_it_ended(child: int, deadline: float) -> str:
    """How a child ended after it closed its end of the pipe; the child is not reaped here.

    The kernel closes the pipe before it frees the memory, which may take a while on a busy machine.
    """
    while time.monotonic() < deadline:
        try:
            found = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        except ChildProcessError:
            return "silent"
        if found is not None:
            if found.si_code != os.CLD_EXITED:
                return "time" if found.si_status == signal.SIGXCPU else "crash"
            return "silent" if found.si_status == REGULAR else "exit"
        time.sleep(0.002)
    return "time"


def _end(child: int) -> float:
    """Kill the child's process group, then reap the child; its id is then free for reuse.

    Returns the processor time in seconds that the child used.
    """
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        used = os.wait4(child, 0)[2]
        return used.ru_utime + used.ru_stime
    return 0.0
