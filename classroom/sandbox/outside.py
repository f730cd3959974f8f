"""The outer half of the sandbox: hand what students made to warm processes, piece by piece, and outlive what it does.

There are three rooms: in one students' code runs, in one what it said is judged, in one files are read. Each is a
bubble of its own, and each piece of work a process of its own in there; what comes back is JSON, looked through here.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from classroom.sandbox import bubble, observer_package
from classroom.sandbox.bubble import SandboxError
from classroom.sandbox.contents import JUDGING, OBSERVING, READING
from classroom.sandbox.inside.rooms import NotBegunError
from classroom.sandbox.link import Link, check_begun
from fxbook.grading import Outcome, forked

JSON = Any


class SheetLike(Protocol):
    """What is needed of a sheet: the name of its file, and its code cells in their order."""

    @property
    def name(self) -> str: ...

    @property
    def cells(self) -> tuple[str, ...]: ...


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Args:
        processor_seconds: for the cells above an answer and the answer, to judge it, or to read a file. In a notebook a
            check allows as many of wall time, so that what passes there passes here.
        seconds: of wall time, for the same: an end for what waits, however busy the machine is.
        memory: in bytes, besides what torch takes.
        threads: how many at a time; new processes are refused.
        file_bytes: the size of one file; files lie in a private ``/tmp``.
        folder_bytes: the size of all files.
    """

    processor_seconds: float = 10.0
    seconds: float = 60.0
    memory: int = 512 << 20
    threads: int = 64
    file_bytes: int = 16 << 20
    folder_bytes: int = 64 << 20


# Of JSON, which takes up to thirty times its length as Python objects. The largest observation of the book has a
# megabyte; a sheet has at most ten, and a zip a hundred thousand names.
_OBSERVED, _JUDGED, _READ, _LISTED = 8 << 20, 1 << 20, 24 << 20, 32 << 20


class Sandbox:
    """Runs, judges and reads what students made where it can do no harm; a context manager.

    Threads may share it: each room does one piece of work at a time.

    Args:
        limits: what one submission may use.
        trusted: work in forked children of this process, with limits on time and memory and nothing else.
        chapters: whose exercises the rooms are to be ready for, ``("02",)``; without any for all.

    Raises:
        SandboxError: the sandbox does not work on this machine, and ``trusted`` was not asked for.
    """

    def __init__(self, limits: Limits = Limits(), *, trusted: bool = False, chapters: Sequence[str] = ()) -> None:
        self._limits = limits
        if trusted and not forked.CAN_FORK:
            raise SandboxError("Even trusted submissions need a system that can fork: grade on Linux, or in WSL 2.")
        if not trusted and (refusal := bubble.protection().refusal):
            raise SandboxError(f"{refusal} {bubble.UNPROTECTED}")
        kind = _OpenRoom if trusted else _Room
        self._rooms = {name: kind(name, chapters, self._bounds()) for name in (READING, OBSERVING, JUDGING)}

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start all rooms at once; else each starts with its first work."""
        for room in self._rooms.values():
            room.start()

    def observe(self, sheet: SheetLike, exercise_id: str, answer: str, seed: int, hidden: str = "") -> Outcome:
        """Run the cells that an answer needs, and observe the answer.

        Args:
            sheet: what was handed in.
            exercise_id: ``"02-put-in-order"``.
            answer: the name of the answer in the sheet.
            seed: chooses weights and inputs; the judge needs the same.
            hidden: the teacher's file of hidden variants; where given, the answer is observed on its cases.

        Returns:
            What :func:`fxbook.learning.sheets.observe_answer` returns, or why there is nothing. Whoever wrote the
            answer may have written that JSON, too: it is to be judged as a claim.

        Raises:
            SandboxError: the file of hidden variants cannot be used, or the sandbox cannot be started again.
        """
        # Nothing of the submission is in the first, and nothing that tells its cases in the second.
        task = _task(exercise_id, hidden, seed)
        payload = {"name": sheet.name, "cells": list(sheet.cells), "answer": answer}
        return _looked_through(_is_observed, self._work(OBSERVING, task, payload, _OBSERVED))

    def judge(self, exercise_id: str, observation: JSON, seed: int, hidden: str = "") -> Outcome:
        """Judge what came back from observing an answer under the same seed and hidden variants.

        Returns:
            What :func:`classroom.judge.judging.judged` returns, or why there is nothing. A graph that takes over the
            process in which it is built again may have written it: it tells of one answer, and holds nothing but text.

        Raises:
            SandboxError: as :meth:`observe`.
        """
        task = _task(exercise_id, hidden, seed)
        try:
            work = self._work(JUDGING, task, observation, _JUDGED)
        except RecursionError:  # It is nested so deep that it could be read, but not be written again.
            return Outcome(None, "silent")
        return _looked_through(is_judgement, work)

    def read_sheet(
        self, name: str, data: bytes, answers: Mapping[str, JSON], handed_out: Sequence[str] = ()
    ) -> Outcome:
        """Read a notebook or a script: see :func:`classroom.collect.parsing.parsed_sheet`."""
        sheet = base64.b64encode(data).decode()
        payload = {"name": name, "sheet": sheet, "answers": dict(answers), "handed_out": list(handed_out)}
        return self._work(READING, None, payload, _READ)

    def list_zip(self, file: int, most: int, *, bounded: bool) -> Outcome:
        """What lies in a zip, of which ``file`` is a descriptor: see :func:`classroom.collect.unzipping.listed`."""
        payload = {"list": most, "bounded": bounded}
        return self._work(READING, None, payload, _LISTED, [file])

    def read_member(self, file: int, place: int, limit: int) -> Outcome:
        """What a file in a zip holds: see :func:`classroom.collect.unzipping.member`."""
        payload = {"member": place, "limit": limit}
        return self._work(READING, None, payload, _READ, [file])

    def _work(self, room: str, task: JSON, payload: JSON, most: int, files: Sequence[int] = ()) -> Outcome:
        return self._rooms[room].work(task, payload, self._limits.seconds, self._bounds(), most, files)

    def _bounds(self) -> JSON:
        bounds = dataclasses.asdict(self._limits)
        del bounds["seconds"]
        return bounds

    def close(self) -> None:
        """End the warm processes and all that they forked."""
        for room in self._rooms.values():
            room.close()


class _Room:
    """A warm process that is started when it is needed, and again when it has ended."""

    def __init__(self, name: str, chapters: Sequence[str], bounds: JSON) -> None:
        self._name, self._chapters, self._bounds = name, chapters, bounds
        self._one_at_a_time = threading.Lock()
        self.link: Link | None = None

    def start(self) -> None:
        if self.link is None or not self.link.is_alive():
            self.close()
            self.link = Link(self._name, self._chapters, self._bounds)

    def work(self, task: JSON, payload: JSON, seconds: float, bounds: JSON, most: int, files: Sequence[int]) -> Outcome:
        with self._one_at_a_time:
            # Once more, where the warm process has ended: that may be the machine's doing rather than the submission's.
            for _ in range(2):
                self.start()
                assert self.link
                try:
                    return self.link.work(task, payload, seconds, bounds, most, files)
                except (OSError, EOFError):
                    self.close()
            return Outcome(None, "crash")

    def close(self) -> None:
        if self.link:
            self.link.close()
            self.link = None


class _OpenRoom(_Room):
    """The same work in a forked child of this process; everything is as the submission's own Python would see it."""

    def start(self) -> None:
        """There is nothing to start."""

    def work(self, task: JSON, payload: JSON, seconds: float, bounds: JSON, most: int, files: Sequence[int]) -> Outcome:
        room = importlib.import_module(f"classroom.sandbox.inside.{self._name}")
        forked.use_one_thread()
        try:
            prepared = room.begin(task)
        except NotBegunError as problem:
            check_begun({problem.cause: str(problem)})
            raise
        try:
            work = functools.partial(room.work, prepared, payload, files)
            return forked.run_in_child(work, seconds, files, bounds["processor_seconds"])
        except RecursionError:
            return Outcome(None, "silent")


def _task(exercise_id: str, hidden: str, seed: int) -> JSON:
    text = observer_package.hidden_for(hidden, exercise_id) if hidden else ""
    return {"exercise": exercise_id, "hidden": text, "seed": seed}


# ---- the form of what comes back -------------------------------------------------------------------------------------


def _looked_through(has_form: Callable[[JSON], bool], outcome: Outcome) -> Outcome:
    return outcome if outcome.data is None or has_form(outcome.data) else Outcome(None, "silent")


def _is_observed(data: JSON) -> bool:
    """Whether JSON has the form of :func:`fxbook.learning.sheets.observe_answer`; the judge reads the observation."""
    match data:
        case {"failed": list(failed), "observation": dict() | None}:
            return len(data) == 2 and all(map(_is_error, failed))
    return False


def _is_error(data: JSON) -> bool:
    match data:
        case {"cell": int(), "type": str(), "message": str(), "line": str() | None}:
            return len(data) == 4
    return False


_TEXTS = ("rule", "message", "node", "read", "case", "line", "printed")


def is_judgement(data: JSON) -> bool:
    """Whether JSON has the form that :func:`classroom.judge.judging.judged` gives."""
    return (
        isinstance(data, dict)
        and data.keys() == {*_TEXTS, "graph", "unproven"}
        and all(isinstance(data[key], str) for key in _TEXTS)
        and isinstance(data["graph"], dict | None)
        and isinstance(data["unproven"], list)
        and all(isinstance(claim, str) for claim in data["unproven"])
    )
