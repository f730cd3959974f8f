"""Prepare a room once, then fork, confine and watch a process for each request.

A request is a message on the control socket, a :class:`Request` as JSON with descriptors: a pipe to read the work from,
one to write the result to, an exit channel, and files that the work may read. The exit channel is a socket: if its
other end is closed, the fork is killed, and how the fork ended is written to it. No student data ever enters the
process that forks.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import json
import math
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from fxbook.grading import forked

from . import confine, pages
from .rooms import NotBegunError

JSON = Any
_MOST_FILES = 4
_FILTER = Path(__file__).with_name("calls.bpf")


@dataclasses.dataclass(frozen=True)
class Request:
    """What the forking process knows about a task, without its content.

    Args:
        mark: random text at the beginning of each JSON frame on the pipes.
        user: a user number that nobody else has.
    """

    mark: str
    user: int
    seconds: float
    bounds: confine.Bounds


class Warm:
    def __init__(self, room: ModuleType) -> None:
        self._room = room
        self._calls = _FILTER.read_bytes()
        self._forks = confine.Forks()

    def serve(self, control: socket.socket, chapters: Sequence[str]) -> None:
        forked.use_one_thread()
        self._room.get_ready(chapters)
        # Exclude existing objects from garbage collection, which would copy their pages in each fork.
        gc.collect()
        gc.freeze()
        pages.gather()
        control.send(b"ready")
        while True:
            message, descriptors, _, _ = socket.recv_fds(control, 1 << 16, 3 + _MOST_FILES)
            if not message:
                return
            fields = json.loads(message)
            request = Request(**{**fields, "bounds": confine.Bounds(**fields["bounds"])})
            inbound, outbound, exit_channel, *files = descriptors
            try:
                child = self._forks.fork()
            except confine.RefusedError as refused:
                child, ended = -1, f"refused: {refused}"
            if child == 0:
                control.close()
                os.close(exit_channel)
                self._run(request, inbound, outbound, files)
            for descriptor in (inbound, outbound, *files):
                os.close(descriptor)
            if child > 0:
                ended = _watch(child, exit_channel, request.seconds, request.bounds.processor_seconds)
            with contextlib.suppress(BrokenPipeError):  # Nobody waits for it: the result has arrived.
                os.write(exit_channel, ended.encode())
            os.close(exit_channel)

    def _run(self, request: Request, inbound: int, outbound: int, files: Sequence[int]) -> NoReturn:
        """Confine this process, receive and do the work, and send the result."""
        mark = request.mark.encode()

        def receive() -> JSON:
            frame, _ = forked.read_frame(inbound, mark, math.inf, most=sys.maxsize)
            if frame is None:
                raise EOFError("the request was withdrawn")
            return json.loads(frame)

        def work() -> JSON:
            try:
                self._confine(request, keep={inbound, outbound, *files})
            except confine.RefusedError as refused:
                return {"refused": str(refused)}
            try:
                prepared = self._room.begin(receive())
            except NotBegunError as problem:
                return {problem.cause: str(problem)}
            # Free the frames of the preparation and everything that they hold.
            gc.collect()
            forked.send(outbound, {"ready": True}, mark)
            return self._room.work(prepared, receive(), files)

        forked.send_and_leave(work, outbound, mark)

    def _confine(self, request: Request, keep: set[int]) -> None:
        # In its own session, signals to the process group cannot reach other processes of the same user.
        os.setsid()
        forked.use_one_thread()
        # While /proc still shows memory and open descriptors.
        forked.limit(request.bounds.processor_seconds, request.bounds.memory, request.bounds.file_bytes)
        forked.mute(keep)
        confine.be_the_first_to_go()
        confine.see_nothing_else(request.bounds)
        confine.limit_counts(request.bounds)
        confine.give_up_rights(request.user, self._calls)


def _watch(child: int, exit_channel: int, seconds: float, processor_seconds: float) -> str:
    """Wait for a fork, kill it if its time is over or nobody waits for it, and return how it ended."""
    end = os.pidfd_open(child)
    poll = select.poll()
    for descriptor in (end, exit_channel):
        poll.register(descriptor, select.POLLIN)
    out_of_time = not poll.poll(1000 * seconds)
    # It is the first process of its namespace, so all others end with it.
    os.kill(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    os.close(end)
    if out_of_time or used.ru_utime + used.ru_stime >= processor_seconds:
        return "time"
    if os.WIFSIGNALED(status):
        return "crash"
    return "silent" if os.WEXITSTATUS(status) == forked.REGULAR else "exit"


def main() -> None:
    """Serve on the socket given by number, in the named room, for the given chapters."""
    number, room, *chapters = sys.argv[1:]
    with socket.socket(fileno=int(number)) as control:
        Warm(importlib.import_module(f".{room}", __package__)).serve(control, chapters)
