"""Folders and zips of submissions for tests."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from classroom.assignment import of_chapters
from classroom.collect import submissions
from classroom.grade.records import Submission
from classroom.tests import students as class_
from fxbook.catalogue import catalogue

ASSIGNMENT = of_chapters(["02", "03"])
TWO, THREE = ASSIGNMENT.chapters


def sheet(*exercises: str) -> bytes:
    """A notebook with the checks of these exercises; by default, all of chapter 02."""
    ids = exercises or [name for name in catalogue() if name.startswith("02")]
    return class_.from_cells(
        f'def {catalogue()[name].answer}():\n    ...\ncheck("{name}", {catalogue()[name].answer})' for name in ids
    )


SHEET, OTHER = sheet(), sheet("03-clean-up")


def put(folder: Path, *handed_in: str | tuple[str, bytes]) -> Path:
    """Write files; the default content is a notebook from chapter 02 that differs from the others."""
    for number, file in enumerate(handed_in):
        name, data = (file, SHEET + b" " * number) if isinstance(file, str) else file
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def zip_of(inside: Mapping[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in inside.items():
            # Keep the name as given, although a decent program would not write some of these.
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return data.getvalue()


def by_student(folder: Path) -> dict[str, Submission]:
    all_submissions = submissions.find(folder, ASSIGNMENT)
    assert (
        len({submission.key for submission in all_submissions})
        == len({submission.student for submission in all_submissions})
        == len(all_submissions)
    )
    return {submission.student: submission for submission in all_submissions}


def only(folder: Path) -> Submission:
    [submission] = submissions.find(folder, ASSIGNMENT)
    return submission
