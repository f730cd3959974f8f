"""Files and folders with marks are closed to other users, and an open folder causes a warning."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from classroom import reports
from classroom.__main__ import _warn_of_others
from classroom.grade import private
from classroom.grade.gradebook import Gradebook, write_table
from classroom.tests.grade.parts import handed_in, mark
from classroom.tests.marks import an_assignment, marks_of
from press import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows knows no such modes")


@pytest.fixture(autouse=True)
def _open_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}


def write_all(folder: Path) -> None:
    assignment = an_assignment()
    marks = marks_of(assignment, 2)
    with Gradebook(folder) as book:
        book.begin(assignment, [handed_in("anna")])
        book.keep("anna", "d", [mark("anna")])
    write_table(folder / "grades.csv", marks)
    reports.write(folder, assignment, marks)


def test_marks_are_closed_to_others(tmp_path: Path) -> None:
    write_all(tmp_path / "new" / "marks")
    permissions = modes(tmp_path)
    assert permissions.pop("new") == 0o700
    assert {mode for name, mode in permissions.items() if "." in name} == {0o600}, permissions
    assert {mode for name, mode in permissions.items() if "." not in name} == {0o700}, permissions
    assert {"new/marks/gradebook.jsonl", "new/marks/grades.csv", "new/marks/class.html"} <= set(permissions)


def test_open_files_are_closed_in_an_existing_folder(tmp_path: Path) -> None:
    write_all(tmp_path / "marks")
    for path in [tmp_path / "marks", *(tmp_path / "marks").rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    write_all(tmp_path / "marks")
    permissions = modes(tmp_path)
    assert permissions.pop("marks") == 0o755, "it may hold other things too"
    assert {mode for name, mode in permissions.items() if "." in name} == {0o600}, permissions
    assert {mode for name, mode in permissions.items() if "." not in name} == {0o700}, permissions


def test_link_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("kept")
    (tmp_path / "grades.csv").symlink_to(tmp_path / "elsewhere")
    private.write(tmp_path / "grades.csv", b"marks")
    assert (tmp_path / "elsewhere").read_text() == "kept" and not (tmp_path / "grades.csv").is_symlink()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_open_folder_causes_one_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o755)
    _warn_of_others(tmp_path)
    warning = capsys.readouterr().err
    assert warning.count("\n") == 1 and f"chmod 700 {tmp_path}" in warning
    tmp_path.chmod(0o700)
    _warn_of_others(tmp_path)
    assert capsys.readouterr().err == ""


def test_marks_in_the_books_folder_cause_one_warning(capsys: pytest.CaptureFixture[str]) -> None:
    _warn_of_others(ROOT / "marks of week 2")
    warning = capsys.readouterr().err
    if (ROOT / ".git").exists():
        assert warning.count("\n") == 1 and "is inside the book's folder" in warning
