"""Jobs for workers: one student each, as plain data. This module does not import torch."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable

from classroom.assignment import Assignment
from classroom.grade.records import Submission


def jobs_of(submissions: Iterable[Submission], assignment: Assignment, trusted: bool, seed: int) -> list[Job]:
    """Make a job for each student, and run the teacher's file of hidden variants once.

    Raises:
        classroom.grade.hidden.HiddenError: the file cannot be used.
    """
    seeds: tuple[int | None, ...] = ()
    with_cases: frozenset[str] = frozenset()
    if assignment.hidden:
        from classroom.grade import hidden  # It needs torch.

        variants = hidden.read(assignment.hidden)
        seeds, with_cases = variants.seeds, frozenset(variants.exercises)
    return [Job(submission, assignment, trusted, seed, seeds, with_cases) for submission in submissions]


@dataclasses.dataclass(frozen=True)
class Job:
    """One student to grade.

    Args:
        assignment: the assignment, with hidden variants.
        trusted: run students' code without a sandbox.
        seed: the class's secret seed, from which the seeds of all answers derive.
        seeds: as in :class:`classroom.grade.hidden.Hidden`.
        with_hidden_cases: the exercises that have hidden cases.
    """

    submission: Submission
    assignment: Assignment
    trusted: bool
    seed: int
    seeds: tuple[int | None, ...] = ()
    with_hidden_cases: frozenset[str] = frozenset()

    def seed_for(self, exercise_id: str, variant: str) -> int:
        """The seed for one answer: reproducible, and unpredictable without the class's seed."""
        text = "\0".join([str(self.seed), self.submission.key, exercise_id, variant])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1
