"""Grade one submission in Gradescope's container: ``python -m classroom.exports.gradescope.inside /autograder``.

Reads ``submission/`` and ``submission_metadata.json``, writes ``results/results.json``. On a failure of its own it
writes none and ends with an error, which Gradescope shows to the teacher and which costs the student nothing.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import secrets
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from classroom import assignment as assignments
from classroom.assignment import Assignment
from classroom.collect import submissions
from classroom.exports import ExportError
from classroom.exports.gradescope.results import as_text, results
from classroom.grade import work
from classroom.grade.hidden import HiddenError
from classroom.grade.jobs import jobs_of
from classroom.grade.records import Mark, Submission
from classroom.sandbox import SandboxError, protection

JSON = Any
# What must not lie about when a student's code runs without a sandbox.
_SECRET = ("assignment.toml", "hidden.py")


def main(root: Path) -> int:
    """Grade what lies in ``root/submission``; return the exit status."""
    try:
        document = grade(root)
        target = root / "results" / "results.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(as_text(document), encoding="utf-8")
    except (assignments.AssignmentError, ExportError, HiddenError, SandboxError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        work.close()
    return 0


def grade(root: Path) -> JSON:
    """The results of the submission below ``root``; deletes the files in ``root/source`` that are the teacher's alone.

    Raises:
        AssignmentError, HiddenError, ExportError: the zip was changed, or the grader failed on an exercise.
    """
    assignment = assignments.load(root / "source" / "assignment.toml")
    for name in _SECRET:
        (root / "source" / name).unlink()
    # Of a container that allows no sandbox it is the container that isolates; see the README of the zip.
    handed = handed_in(root, assignment)
    [job] = jobs_of([handed], assignment, bool(protection().refusal), secrets.randbits(31))
    print(f"seed {job.seed}, {'trusted' if job.trusted else 'in a sandbox'}")
    return results(assignment, [Mark.from_json(mark) for mark in work.grade(job)])


def handed_in(root: Path, assignment: Assignment) -> Submission:
    """What lies in ``root/submission``, found as in a folder of a class."""
    with tempfile.TemporaryDirectory() as folder:
        # As Gradescope itself names the folder of a submission where a teacher exports a class.
        shutil.copytree(root / "submission", Path(folder) / "class" / "submission_1", symlinks=True)
        (submission,) = submissions.find(Path(folder) / "class", assignment)
    name = _name(root / "submission_metadata.json")
    return dataclasses.replace(submission, key="submission", student=name)


def _name(metadata: Path) -> str:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        fields = json.loads(metadata.read_text(encoding="utf-8"))
        return ", ".join(str(user["name"]) for user in fields["users"])
    return ""


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
