"""What is handed to a worker: one student, as plain data. Imports no torch."""

from __future__ import annotations

import dataclasses
import hashlib

from classroom.assignment import Assignment
from classroom.records import Submission


@dataclasses.dataclass(frozen=True)
class Job:
    """One student to grade: plain data, which goes to a worker.

    Args:
        submission: what was handed in.
        assignment: what was asked, hidden variants included.
        trusted: run the code of students without a sandbox.
        seed: of the class; secret, since the seeds of all answers derive from it.
    """

    submission: Submission
    assignment: Assignment
    trusted: bool
    seed: int

    def seed_for(self, exercise_id: str, variant: str) -> int:
        """The seed for one answer: the same whenever it is graded again, and not to be guessed without the class's."""
        told = "\0".join([str(self.seed), self.submission.key, exercise_id, variant])
        return int.from_bytes(hashlib.sha256(told.encode()).digest()[:4], "big") >> 1
