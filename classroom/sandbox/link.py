"""The connection to a room's warm process: start it in a bubble, send work, receive JSON, and enforce time limits."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import socket
import subprocess
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from io import FileIO
from typing import IO, Any

from classroom.sandbox import bubble, contents
from classroom.sandbox.bubble import SandboxError
from classroom.sandbox.groups import Group
from fxbook.grading import Outcome, forked

JSON = Any
# To start, the warm process imports torch, and runs nobody's answer. If it ends instead, that is noticed at once.
_START_SECONDS = 900.0
# The warm process enforces the time limit itself; if it is this late, it cannot be trusted.
_SPARE_SECONDS = 30.0
_MOST_FIRST = 1 << 16
_SURROGATE = re.compile(rb"\\u[dD][89abAB]")
# User numbers from here on have no name on any system.
_FIRST_USER, _USERS = 1 << 30, 1 << 30


# The memory of the warm process, rounded up, and the number of processes besides a submission's.
_WARM_BYTES, _WARM_PROCESSES = 1 << 30, 16


class Link:
    """One warm process. It gets ready in the background, and the first task waits for it.

    Args:
        room: one of :data:`contents.ROOMS`.
        chapters: the chapters to prepare, ``("02",)``; empty for all.
        bounds: the limits of one task. The room's limits add what the warm process needs.
    """

    def __init__(self, room: str, chapters: Sequence[str], bounds: JSON) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        number = theirs.fileno()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the link)
        memory = _WARM_BYTES + bounds["memory"] + bounds["folder_bytes"]
        group = Group(memory, _WARM_PROCESSES + bounds["threads"])
        with theirs:
            self._process = bubble.start(
                contents.files(room),
                "from inside.warm import main; main()",
                *(str(number), room, *chapters),
                keep=number,
                group=group,
                stdout=self._output,
                stderr=self._output,
            )
        self.close = weakref.finalize(self, _end, self._process, self._control, self._output, group)
        self._is_ready = False

    def get_ready(self) -> None:
        """Wait until the process is ready.

        Raises:
            SandboxError: it did not start.
        """
        if self._is_ready:
            return
        self._control.settimeout(_START_SECONDS)
        ready = b""
        with contextlib.suppress(OSError):
            ready = self._control.recv(64)
        if ready != b"ready":
            self._output.seek(0)
            lines = self._output.read().decode(errors="replace").strip().splitlines()
            self.close()
            raise SandboxError(f"The sandbox did not start ({lines[-1] if lines else 'it said nothing'}).")
        self._is_ready = True

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def work(
        self, task: JSON, payload: JSON, seconds: float, bounds: JSON, most: int, files: Sequence[int] = ()
    ) -> Outcome:
        """Send work and return the result.

        Args:
            task: the teacher's part, which arrives before any student data.
            payload: the student's part.
            most: the limit in bytes on the returned JSON.

        Returns:
            Any JSON, or the reason why there is none.

        Raises:
            OSError, EOFError: the warm process has ended, or does not answer.
            SandboxError: the work could not begin, through no fault of the student.
        """
        self.get_ready()
        mark = secrets.token_hex(16)
        user = _FIRST_USER + secrets.randbelow(_USERS)
        request = {"mark": mark, "user": user, "seconds": seconds, "bounds": bounds}
        last = time.monotonic() + seconds + _SPARE_SECONDS
        with (
            _pipe() as (their_in, our_out),
            _pipe() as (our_in, their_out),
            _sockets() as (exit_channel, their_exit_channel),
        ):
            theirs = (their_in, their_out, their_exit_channel)
            descriptors = [*(end.fileno() for end in theirs), *files]
            socket.send_fds(self._control, [json.dumps(request).encode()], descriptors)
            for end in theirs:
                end.close()
            first = frame = None
            with contextlib.suppress(BrokenPipeError):  # The fork has ended; the exit channel says how.
                forked.send(our_out.fileno(), task, mark.encode())
                if (first := _receive(our_in, mark, last, _MOST_FIRST)) is not None:
                    check_begun(json.loads(first))
                    forked.send(our_out.fileno(), payload, mark.encode())
                    frame = _receive(our_in, mark, last, most)
            if frame is not None:
                data = _parsed(frame)
                return Outcome(data, "" if data is not None else "silent")
            our_in.close()  # Stop reading from it.
            exit_channel.settimeout(max(0.0, last - time.monotonic()) + _SPARE_SECONDS)
            ended = exit_channel.recv(4096).decode()
        if not ended:
            raise EOFError("the warm process ended")
        if first is None:
            why = "preparing its cases takes too long" if ended == "time" else ended
            raise SandboxError(f"A submission could not be graded: {why}.")
        return Outcome(None, ended)


def _receive(end: FileIO, mark: str, last: float, most: int) -> bytes | None:
    frame, late = forked.read_frame(end.fileno(), mark.encode(), last, most)
    if late:
        raise EOFError("the sandbox does not answer")
    return frame


def check_begun(reply: JSON) -> None:
    """Check the first reply, which precedes any student data and so cannot be forged.

    Raises:
        SandboxError: the work could not begin.
    """
    if "hidden" in reply:
        raise SandboxError(f"The file of hidden variants cannot be used: {reply['hidden']}.")
    if "refused" in reply:
        raise SandboxError(f"A submission could not be graded: {reply['refused']}.")


def _parsed(frame: bytes) -> JSON:
    """Parse a frame and replace unpaired surrogates; return ``None`` if it is not JSON."""
    try:
        data = json.loads(frame)
        if _SURROGATE.search(frame):
            data = json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return data


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[FileIO, FileIO]]:
    read_end, write_end = os.pipe()
    with FileIO(read_end, "r") as reader, FileIO(write_end, "w") as writer:
        yield reader, writer


@contextlib.contextmanager
def _sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        yield ours, theirs


def _end(process: subprocess.Popen[bytes], control: socket.socket, output: IO[bytes], group: Group) -> None:
    control.close()
    output.close()
    process.kill()
    process.wait()
    group.close()
