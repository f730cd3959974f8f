"""Marks for Gradescope: ``results`` writes what its pages show, ``autograder`` makes the zip that grades over there.

``inside`` is what that zip runs in Gradescope's container, for one submission; the press is not there.
"""

from __future__ import annotations

from pathlib import Path

from classroom.assignment import Assignment


def write(assignment: Assignment, out: Path, *, force: bool = False) -> Path:
    """Write the zip of the autograder; see :func:`classroom.exports.gradescope.autograder.make_autograder`."""
    from classroom.exports.gradescope.autograder import make_autograder

    return make_autograder(assignment, out, force=force)
