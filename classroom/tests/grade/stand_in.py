"""A stand-in for grading in tests of workers. It does not import torch, so that workers need not load it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from classroom.grade.jobs import Job
from classroom.grade.records import Mark


def answers(job: Job) -> list[Any]:
    """Do what the student's name says."""
    key, _, place = job.submission.student.partition("|")
    if place:
        with (Path(place) / "log").open("a") as log:
            log.write(f"{key}\n")
    if key.startswith("kills") or (key.startswith("dies once") and not (Path(place) / key).exists()):
        (Path(place) / key).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if key.startswith("raises"):
        raise ValueError("told")
    time.sleep(0.05)
    about, key = job.assignment.exercises[0], job.submission.key
    return [Mark(key, key.title(), about.id, status="passed", points=1.0, out_of=1.0).to_json()]
