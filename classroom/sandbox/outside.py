"""The outer half of the sandbox: hand submissions to a warm process, one at a time, and outlive what they do to it."""

from __future__ import annotations

import dataclasses
import functools
import math
import threading
from pathlib import Path
from typing import Any, Protocol

from classroom.sandbox import bubble, halves
from classroom.sandbox.bubble import SandboxError
from classroom.sandbox.link import Link
from fxbook.checking import apart
from fxbook.checking.apart import Outcome

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
        seconds: for the cells above the answer and the answer, of wall-clock time and of the processor. Where others
            keep the machine busy, it may take four times as long.
        answer_seconds: of that for the answer alone; its line is told when they are over. In a notebook a check allows
            1.1 s, so that what passes there passes here.
        memory: in bytes, besides what torch takes.
        threads: how many at a time; new processes are refused.
        file_bytes: the size of one file; files lie in a private ``/tmp``.
        folder_bytes: the size of all files.
    """

    seconds: float = 10.0
    answer_seconds: float = 3.0
    memory: int = 512 << 20
    threads: int = 64
    file_bytes: int = 16 << 20
    folder_bytes: int = 64 << 20


_DEFAULT = Limits()


class Sandbox:
    """Runs submissions where they can do no harm, each in a fork of one warm process; a context manager.

    Threads may share it: it runs one submission at a time.

    Args:
        limits: what one submission may use.
        trusted: run submissions in a forked child of this process, with limits on time and memory and nothing else.

    Raises:
        SandboxError: the sandbox does not work on this machine, and ``trusted`` was not asked for.
    """

    def __init__(self, limits: Limits = _DEFAULT, *, trusted: bool = False) -> None:
        self._limits = limits
        self._trusted = trusted
        self._one_at_a_time = threading.Lock()
        self._link: Link | None = None
        if trusted and not apart.CAN_FORK:
            raise SandboxError("Even trusted submissions need a system that can fork: grade on Linux, or in WSL 2.")
        if not trusted:
            if refusal := bubble.protection().refusal:
                raise SandboxError(f"{refusal} {bubble.UNPROTECTED}")
            self._link = Link()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def observe(self, sheet: SheetLike, exercise_id: str, answer: str, seed: int, hidden: str = "") -> Outcome:
        """Run the cells that an answer needs, and observe the answer.

        Args:
            sheet: what was handed in.
            exercise_id: ``"02-put-in-order"``.
            answer: the name of the answer in the sheet.
            seed: chooses weights and inputs; the judge needs the same.
            hidden: the teacher's file of hidden variants; where given, the answer is observed on its cases.

        Returns:
            What :func:`fxbook.sheets.observe_answer` returns, or why there is nothing. Whoever wrote the answer may
            have written that JSON, too: it is to be judged as a claim.

        Raises:
            SandboxError: the file of hidden variants cannot be used, or the sandbox cannot be started again.
        """
        asked = {"exercise": exercise_id, "hidden": halves.hidden_for(hidden, exercise_id) if hidden else ""}
        told = {
            "name": sheet.name,
            "cells": list(sheet.cells),
            "answer": answer,
            "seed": seed,
            "seconds": self._limits.answer_seconds,
        }
        with self._one_at_a_time:
            return _observe_here(asked, told, self._limits.seconds) if self._trusted else self._observe(asked, told)

    def _observe(self, asked: JSON, told: JSON) -> Outcome:
        limits = self._limits
        bounds = {
            "seconds": math.ceil(limits.seconds) + 1,
            "memory": limits.memory,
            "threads": limits.threads,
            "file_bytes": limits.file_bytes,
            "folder_bytes": limits.folder_bytes,
        }
        # Once more, where the warm process has ended: that may be the machine's doing rather than the submission's.
        for _ in range(2):
            if self._link is None or not self._link.is_alive():
                self.close()
                self._link = Link()
            try:
                return self._link.observe(asked, told, limits.seconds, bounds)
            except (OSError, EOFError):
                self.close()
        return Outcome(None, "crash")

    def close(self) -> None:
        """End the warm process and all that it forked."""
        if self._link:
            self._link.close()
            self._link = None


def _observe_here(asked: JSON, told: JSON, seconds: float) -> Outcome:
    """Observe in a forked child of this process; everything is as the submission's own Python would see it."""
    from classroom.sandbox.inside.hidden import with_cases
    from fxbook import checks, sheets
    from fxbook.exercises import About

    exercise = checks.find(asked["exercise"])
    if exercise is None:
        raise SandboxError(f"There is no exercise {asked['exercise']!r}.")
    if asked["hidden"]:
        try:
            exercise = with_cases(exercise, asked["hidden"])
        except Exception as error:
            raise SandboxError(f"The file of hidden variants cannot be used: {error}.") from error
    sheet = sheets.Sheet(Path(told["name"]), tuple(told["cells"]))
    about = About(exercise.id, exercise.id, answer=told["answer"])
    work = functools.partial(
        sheets.observe_answer, sheet, exercise, about, told["seed"], told["seconds"], rebuildable=True
    )
    try:
        return apart.run_apart(work, seconds)
    except RecursionError:
        return Outcome(None, "silent")
