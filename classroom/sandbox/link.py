"""The link to the warm process: start it in a bubble, hand a submission over, take back JSON, keep the time."""

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
from collections.abc import Iterator
from io import FileIO
from typing import Any

from classroom.sandbox import bubble, halves
from classroom.sandbox.bubble import SandboxError
from fxbook.checking import apart
from fxbook.checking.apart import Outcome

JSON = Any
_START_SECONDS = 120.0
# The inner half gives a submission several times its seconds on a busy machine; after that it is not to be trusted.
_PATIENCE = 5
_SPARE_SECONDS = 10.0
# JSON takes up to thirty times its length as Python objects; the largest observation of the book has a megabyte.
_MOST_BYTES = 8 << 20
_SURROGATE = re.compile(rb"\\u[dD][89abAB]")
# Users from here on have no name on any system.
_FIRST_USER, _USERS = 1 << 30, 1 << 30


class Link:
    """One warm process.

    Raises:
        SandboxError: it did not start.
    """

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = "from inside.warm import main; main()"
        number = theirs.fileno()
        with theirs, tempfile.TemporaryFile() as said:
            self._process = bubble.start(halves.files(), program, str(number), keep=number, stdout=said, stderr=said)
            self.close = weakref.finalize(self, _end, self._process, self._control)
            theirs.close()
            self._control.settimeout(_START_SECONDS)
            ready = b""
            with contextlib.suppress(OSError):
                ready = self._control.recv(64)
            if ready != b"ready":
                self.close()
                said.seek(0)
                lines = said.read().decode(errors="replace").strip().splitlines()
                raise SandboxError(f"The sandbox did not start ({lines[-1] if lines else 'it said nothing'}).")

    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def observe(self, asked: JSON, told: JSON, seconds: float, bounds: JSON) -> Outcome:
        """Hand a submission over and take back what was seen of it.

        Args:
            asked: what to observe, and hidden cases: what may enter before the submission does.
            told: the submission.
            seconds: after which it is killed.
            bounds: what it may use; see ``inside.confine.Bounds``.

        Raises:
            OSError, EOFError: the warm process has ended, or does not answer.
            SandboxError: the submission was not run, through no fault of its own.
        """
        mark = secrets.token_hex(16)
        user = _FIRST_USER + secrets.randbelow(_USERS)
        request = {"mark": mark, "user": user, "seconds": seconds, "bounds": bounds}
        last = time.monotonic() + _PATIENCE * seconds + _SPARE_SECONDS
        with _pipe() as (their_in, our_out), _pipe() as (our_in, their_out), _sockets() as (fate, their_fate):
            theirs = (their_in, their_out, their_fate)
            socket.send_fds(self._control, [json.dumps(request).encode()], [end.fileno() for end in theirs])
            for end in theirs:
                end.close()
            first = frame = None
            with contextlib.suppress(BrokenPipeError):  # It has ended: its fate tells how.
                apart.send(our_out.fileno(), asked, mark.encode())
                if (first := _receive(our_in, mark, last)) is not None:
                    _check_ready(first)
                    apart.send(our_out.fileno(), told, mark.encode())
                    fate.send(b"sent")
                    frame = _receive(our_in, mark, last)
            if frame is not None:
                data = _read(frame)
                return Outcome(data, "" if data else "silent")
            our_in.close()  # Whoever still writes will not be read.
            fate.settimeout(max(0.0, last - time.monotonic()) + _SPARE_SECONDS)
            ended = fate.recv(4096).decode()
        if not ended:
            raise EOFError("the warm process ended")
        if first is None:
            why = "preparing its cases takes too long" if ended == "time" else ended
            raise SandboxError(f"A submission could not be run: {why}.")
        return Outcome(None, ended)


def _receive(end: FileIO, mark: str, last: float) -> bytes | None:
    frame, late = apart.read_frame(end.fileno(), mark.encode(), lambda: time.monotonic() > last, _MOST_BYTES)
    if late:
        raise EOFError("the sandbox does not answer")
    return frame


def _check_ready(frame: bytes) -> None:
    """What came before anything of the submission was sent, so that no submission can have written it."""
    told = json.loads(frame)
    if "hidden" in told:
        raise SandboxError(f"The file of hidden variants cannot be used: {told['hidden']}.")
    if "refused" in told:
        raise SandboxError(f"A submission could not be run: {told['refused']}.")


def _read(frame: bytes) -> JSON:
    """The frame as JSON of the form that :func:`fxbook.sheets.observe_answer` gives, in text that any file can hold.

    ``None`` where it is anything else. What stands in the observation is for the judge to read.
    """
    try:
        data = json.loads(frame)
        if _SURROGATE.search(frame):
            data = json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    match data:
        case {"failed": list(failed), "observation": dict() | None} if len(data) == 2 and all(map(_is_error, failed)):
            return data
    return None


def _is_error(data: JSON) -> bool:
    match data:
        case {"cell": int(), "type": str(), "message": str(), "line": str() | None}:
            return len(data) == 4
    return False


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


def _end(process: subprocess.Popen[bytes], control: socket.socket) -> None:
    control.close()
    process.kill()
    process.wait()
