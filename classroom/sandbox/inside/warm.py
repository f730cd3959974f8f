"""Import torch and the observing half of the library once; fork for each submission, confined, and watch the fork.

A request is a message on the control socket, JSON of :class:`Request`, with three descriptors: a pipe from which the
submission is read, one to which its observation is written, and a socket for its fate. A message there says that the
submission has been sent, so that its time begins; when the other end is closed, it is killed; and its end is told
there. Nothing of a submission ever enters the process that forks.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import torch

from fxbook import checks, sheets
from fxbook.checking import apart
from fxbook.checking.observe import observe
from fxbook.exercises import About

from . import confine, hidden
from .system_calls import Filter

# What an answer or its observation may import, and what takes long to import.
_EARLY = (
    "fxbook.drawing",
    "fxbook.errors",
    "fxbook.plotting",
    "fxbook.stepping.edit",
    "fxbook.stepping.run",
    "torch._dynamo",
    "torch.export",
    "torch.fx.experimental.proxy_tensor",
    "torch.profiler",
    "torch.utils.flop_counter",
)
_LOOK_SECONDS = 0.05


@dataclasses.dataclass(frozen=True)
class Request:
    """What the process that forks needs to know of a submission: nothing of what is in it.

    Args:
        mark: begins each frame of JSON on the pipes, random.
        user: the number of a user that nobody else has.
        seconds: after which it is killed; see :func:`fxbook.checking.apart.had_its_time`.
        bounds: see :class:`confine.Bounds`.
    """

    mark: str
    user: int
    seconds: float
    bounds: confine.Bounds


class Warm:
    """The process that forks.

    Raises:
        UnknownMachineError: see :class:`Filter`.
    """

    def __init__(self) -> None:
        self._calls = Filter()
        self._forks = confine.Forks()

    def serve(self, control: socket.socket) -> None:
        """Answer requests, one after the other, until the other end is closed."""
        torch.set_num_threads(1)
        for name in _EARLY:
            importlib.import_module(name)
        for exercise in checks.all_exercises():
            # So that what torch keeps when it first traces or runs something is there for every fork.
            observe(exercise, _nothing, seed=0, rebuildable=True)
        # What is here now is never freed: looking at it would copy its pages in each fork.
        gc.collect()
        gc.freeze()
        control.send(b"ready")
        while True:
            message, descriptors, _, _ = socket.recv_fds(control, 1 << 16, 3)
            if not message:
                return
            told = json.loads(message)
            request = Request(**{**told, "bounds": confine.Bounds(**told["bounds"])})
            inbound, outbound, fate = descriptors
            try:
                child = self._forks.fork()
            except confine.RefusedError as refused:
                child, ended = -1, f"refused: {refused}"
            if child == 0:
                control.close()
                os.close(fate)
                self._run(request, inbound, outbound)
            os.close(inbound)
            os.close(outbound)
            if child > 0:
                ended = _watch(child, fate, request.seconds)
            with contextlib.suppress(BrokenPipeError):  # Nobody waits for it: the observation has arrived.
                os.write(fate, ended.encode())
            os.close(fate)

    def _run(self, request: Request, inbound: int, outbound: int) -> NoReturn:
        """Confine this process, then read the submission, observe it, and send what was seen."""
        mark = request.mark.encode()

        def receive() -> Any:
            frame, _ = apart.read_frame(inbound, mark, lambda: False, most=sys.maxsize)
            if frame is None:
                raise EOFError("the request was taken back")
            return json.loads(frame)

        def work() -> Any:
            try:
                self._confine(request, keep={inbound, outbound})
            except confine.RefusedError as refused:
                return {"refused": str(refused)}
            asked = receive()
            exercise = checks.find(asked["exercise"])
            if exercise is None:
                return {"refused": f"there is no exercise {asked['exercise']!r}"}
            if asked["hidden"]:
                try:
                    exercise = hidden.with_cases(exercise, asked["hidden"])
                except Exception as error:
                    return {"hidden": f"{type(error).__name__}: {error}"}
            apart.send(outbound, {"ready": True}, mark)
            told = receive()
            sheet = sheets.Sheet(Path(told["name"]), tuple(told["cells"]))
            about = About(exercise.id, exercise.id, answer=told["answer"])
            return sheets.observe_answer(sheet, exercise, about, told["seed"], told["seconds"], rebuildable=True)

        apart.send_and_leave(work, outbound, mark)

    def _confine(self, request: Request, keep: set[int]) -> None:
        # A group of its own: signals to the group of this process must not reach the others of the same user.
        os.setsid()
        # Before anything else of torch: see apart.
        torch.set_num_threads(1)
        # While /proc still tells how much memory there is, and which descriptors are open.
        apart.limit(request.bounds.memory, request.bounds.seconds, request.bounds.file_bytes)
        apart.mute(keep)
        confine.see_nothing_else(request.bounds)
        confine.limit_counts(request.bounds)
        confine.give_up_rights(request.user, self._calls)


def _nothing(*_: object, **__: object) -> None:
    """An answer that does nothing."""


def _watch(child: int, fate: int, seconds: float) -> str:
    """Wait for the end of the submission and end it when it had its time or nobody waits for it; how it ended."""
    # The clock of another process, as clock_getcpuclockid(3) makes its number.
    clock = (~child << 3) | 2
    started, used = time.monotonic(), 0.0
    end = os.pidfd_open(child)
    poll = select.poll()
    for descriptor in (end, fate):
        poll.register(descriptor, select.POLLIN)
    out_of_time = False
    while not out_of_time:
        ready = dict(poll.poll(_LOOK_SECONDS * 1000))
        if end in ready or (fate in ready and not os.read(fate, 64)):
            break
        if fate in ready:
            started, used = time.monotonic(), time.clock_gettime(clock)
        out_of_time = apart.had_its_time(time.monotonic() - started, time.clock_gettime(clock) - used, seconds)
    # The first process of its namespace: all others in it end with it.
    os.kill(child, signal.SIGKILL)
    _, status, spent = os.wait4(child, 0)
    os.close(end)
    if out_of_time or spent.ru_utime + spent.ru_stime >= seconds:
        return "time"
    if os.WIFSIGNALED(status):
        return "crash"
    return "silent" if os.WEXITSTATUS(status) == apart.REGULAR else "exit"


def main() -> None:
    """Serve on the socket whose number is the first argument."""
    with socket.socket(fileno=int(sys.argv[1])) as control:
        Warm().serve(control)
