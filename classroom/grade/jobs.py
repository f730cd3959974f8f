"""What is handed to a worker: one student, as plain data. Imports no torch."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable

from classroom.assignment import Assignment
from classroom.grade.records import Submission


def jobs_of(submissions: Iterable[Submission], assignment: Assignment, trusted: bool, seed: int) -> list[Job]:
    """A job for each student. The teacher's file of hidden variants is run here, once.

    Raises:
        classroom.grade.hidden.HiddenError: it cannot be used.
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
    """One student to grade: plain data, which goes to a worker.

    Args:
        submission: what was handed in.
        assignment: what was asked, hidden variants included.
        trusted: run the code of students without a sandbox.
        seed: of the class; secret, since the seeds of all answers derive from it.
        seeds: of each further try on the public cases its seed, ``None`` for one that nobody chose.
        with_hidden_cases: the exercises that are tried on hidden cases too.
    """

    submission: Submission
    assignment: Assignment
    trusted: bool
    seed: int
    seeds: tuple[int | None, ...] = ()
    with_hidden_cases: frozenset[str] = frozenset()

    def seed_for(self, exercise_id: str, variant: str) -> int:
        """The seed for one answer: the same whenever it is graded again, and not to be guessed without the class's."""
        text = "\0".join([str(self.seed), self.submission.key, exercise_id, variant])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1
