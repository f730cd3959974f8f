"""The grader's side of the sandbox: send students' work to warm processes, restart them, and check their JSON."""

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
    """The parts of a sheet that are needed: the name of its file, and its code cells in order."""

    @property
    def name(self) -> str: ...

    @property
    def cells(self) -> tuple[str, ...]: ...


@dataclasses.dataclass(frozen=True)
class Limits:
    """The limits of one submission.

    Args:
        processor_seconds: to run an answer and the cells above it, to judge it, or to read a file. A check in a
            notebook allows the same amount of wall time, so an answer that passes there passes here.
        seconds: a limit on wall time, which also stops code that only waits.
        memory: in bytes, in addition to torch's.
        threads: the number of simultaneous threads; new processes are not allowed.
        file_bytes: the size of one file; files are in a private ``/tmp``.
        folder_bytes: the size of all files.
    """

    processor_seconds: float = 10.0
    seconds: float = 60.0
    memory: int = 512 << 20
    threads: int = 64
    file_bytes: int = 16 << 20
    folder_bytes: int = 64 << 20


# Limits in bytes on JSON, which takes up to thirty times its length as Python objects. The largest observation in the
# book has one megabyte; a sheet has at most ten, and a zip a hundred thousand names.
_OBSERVED, _JUDGED, _READ, _LISTED = 8 << 20, 1 << 20, 24 << 20, 32 << 20


class Sandbox:
    """Runs, judges and reads students' work in isolation; a context manager.

    Threads may share it: each room does one task at a time.

    Args:
        trusted: work in forked children of this process, limited only in time and memory.
        chapters: the chapters to prepare, ``("02",)``; empty for all.

    Raises:
        SandboxError: the sandbox does not work on this machine, and ``trusted`` is false.
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
        """Start all rooms now; otherwise each room starts with its first task."""
        for room in self._rooms.values():
            room.start()

    def observe(self, sheet: SheetLike, exercise_id: str, answer: str, seed: int, hidden: str = "") -> Outcome:
        """Run the cells that an answer needs, and observe the answer.

        Args:
            exercise_id: ``"02-put-in-order"``.
            answer: the name of the answer in the sheet.
            seed: chooses weights and inputs; the judge needs the same.
            hidden: the teacher's file of hidden variants; if given, the answer is observed on its cases.

        Returns:
            The result of :func:`fxbook.learning.sheets.observe_answer`, or the reason why there is none. The author of
            the answer may have forged it, so it must be judged as a claim.

        Raises:
            SandboxError: the file of hidden variants cannot be used, or the sandbox cannot be restarted.
        """
        # The task contains nothing of the submission, and the payload nothing that reveals the cases.
        task = _task(exercise_id, hidden, seed)
        payload = {"name": sheet.name, "cells": list(sheet.cells), "answer": answer}
        return _looked_through(_is_observed, self._work(OBSERVING, task, payload, _OBSERVED))

    def judge(self, exercise_id: str, observation: JSON, seed: int, hidden: str = "") -> Outcome:
        """Judge an observation made with the same seed and hidden variants.

        Returns:
            The result of :func:`classroom.judge.judging.judged`, or the reason why there is none. A malicious graph may
            have forged it, but it concerns only one answer and contains only text.

        Raises:
            SandboxError: as for :meth:`observe`.
        """
        task = _task(exercise_id, hidden, seed)
        try:
            work = self._work(JUDGING, task, observation, _JUDGED)
        except RecursionError:  # It is nested too deeply to be serialised again.
            return Outcome(None, "silent")
        return _looked_through(is_judgement, work)

    def read_sheet(
        self, name: str, data: bytes, answers: Mapping[str, JSON], handed_out: Sequence[str] = ()
    ) -> Outcome:
        """Read a notebook or script; see :func:`classroom.collect.parsing.parsed_sheet`."""
        sheet = base64.b64encode(data).decode()
        payload = {"name": name, "sheet": sheet, "answers": dict(answers), "handed_out": list(handed_out)}
        return self._work(READING, None, payload, _READ)

    def list_zip(self, file: int, most: int, *, bounded: bool) -> Outcome:
        """List the files in a zip, given its descriptor; see :func:`classroom.collect.unzipping.listed`."""
        payload = {"list": most, "bounded": bounded}
        return self._work(READING, None, payload, _LISTED, [file])

    def read_member(self, file: int, place: int, limit: int) -> Outcome:
        """Read a file from a zip, given its descriptor; see :func:`classroom.collect.unzipping.member`."""
        payload = {"member": place, "limit": limit}
        return self._work(READING, None, payload, _READ, [file])

    def _work(self, room: str, task: JSON, payload: JSON, most: int, files: Sequence[int] = ()) -> Outcome:
        return self._rooms[room].work(task, payload, self._limits.seconds, self._bounds(), most, files)

    def _bounds(self) -> JSON:
        bounds = dataclasses.asdict(self._limits)
        del bounds["seconds"]
        return bounds

    def close(self) -> None:
        for room in self._rooms.values():
            room.close()


class _Room:
    """A warm process that is started on demand, and restarted after it exits."""

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
            # Retry once if the warm process has ended, because the machine may be at fault rather than the submission.
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
    """A room whose work is done in an unconfined forked child of this process."""

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


# ---- the structure of results ----------------------------------------------------------------------------------------


def _looked_through(has_form: Callable[[JSON], bool], outcome: Outcome) -> Outcome:
    return outcome if outcome.data is None or has_form(outcome.data) else Outcome(None, "silent")


def _is_observed(data: JSON) -> bool:
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
    return (
        isinstance(data, dict)
        and data.keys() == {*_TEXTS, "graph", "unproven"}
        and all(isinstance(data[key], str) for key in _TEXTS)
        and isinstance(data["graph"], dict | None)
        and isinstance(data["unproven"], list)
        and all(isinstance(claim, str) for claim in data["unproven"])
    )
