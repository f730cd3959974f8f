"""Results survive an interrupted run, the table is safe to open, and progress is reported correctly."""

from __future__ import annotations

import csv
import dataclasses
import io
from pathlib import Path

import pytest

from classroom.assignment import of_chapters
from classroom.grade import gradebook
from classroom.grade.gradebook import Gradebook, GradebookError, digest, write_table
from classroom.grade.progress import Progress
from classroom.grade.records import Participant, Version
from classroom.tests.grade.parts import ASSIGNMENT, CHAPTER, EXERCISES, few, handed_in, mark

# ---- the gradebook ---------------------------------------------------------------------------------------------------


def test_complete_lines_survive_an_interruption(tmp_path: Path) -> None:
    with Gradebook(tmp_path) as book:
        seed = book.seed
        book.begin(ASSIGNMENT, [handed_in("anna"), handed_in("ben")])
        book.keep("anna", "d1", [mark("anna")])
        book.keep("ben", "d1", [mark("ben")])
    content = book.path.read_bytes()
    for cut in range(1, len(content.splitlines()[-1]) + 1, 40):
        book.path.write_bytes(content[:-cut])
        with Gradebook(tmp_path) as again:
            assert again.seed == seed
            assert again.marks("anna", "d1") == [mark("anna")]
            # A line is complete without its newline.
            assert again.marks("ben", "d1") == (None if cut > 1 else [mark("ben")])
            again.keep("ben", "d1", [mark("ben", points=0.5)])
        with Gradebook(tmp_path) as last:
            assert last.marks("ben", "d1") == [mark("ben", points=0.5)] and last.marks("anna", "d1") == [mark("anna")]
    assert gradebook.last(tmp_path)[1] == [mark("anna"), mark("ben", points=0.5)]


def test_last_line_counts_and_errors_are_retried(tmp_path: Path) -> None:
    with Gradebook(tmp_path) as book:
        book.keep("anna", "d1", [mark("anna")])
        book.keep("anna", "d2", [mark("anna", status="failed")])
        book.keep("ben", "d1", [mark("ben"), mark("ben", EXERCISES[1], status="error")])
        assert book.marks("anna", "d1") is None
    with Gradebook(tmp_path) as book:
        assert book.marks("anna", "d1") is None
        assert book.marks("anna", "d2") == [mark("anna", status="failed")]
        assert book.marks("ben", "d1") is None


@pytest.mark.parametrize("line", ["null", "7", "{}", '{"key": "anna", "digest": "d1", "marks": 7}', "[" * 9999, "\x00",
                                  '{"key": "anna", "digest": "d1", "marks": [{"status": "best"}]}'])  # fmt: skip
def test_damaged_line_is_skipped(tmp_path: Path, line: str) -> None:
    with Gradebook(tmp_path) as book:
        book.keep("anna", "d0", [mark("anna")])
    with book.path.open("a") as file:
        file.write(line + "\n")
    with Gradebook(tmp_path) as book:
        assert book.marks("anna", "d1") is None


def test_second_run_into_a_folder_is_refused(tmp_path: Path) -> None:
    with Gradebook(tmp_path), pytest.raises(GradebookError, match="Another run is grading"):
        Gradebook(tmp_path)
    Gradebook(tmp_path).__exit__()
    (tmp_path / "file").touch()
    with pytest.raises(GradebookError, match="give another --out"):
        Gradebook(tmp_path / "file")
    with pytest.raises(GradebookError, match=r"There is no gradebook\.jsonl"):
        gradebook.last(tmp_path / "nowhere")


def test_gradebook_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / gradebook.NAME).write_text('{"gradebook":1,"seed":5}\n')
    with pytest.raises(GradebookError, match="from another version of the grader: give another --out"):
        Gradebook(tmp_path)
    with pytest.raises(GradebookError, match="from another version"):
        gradebook.last(tmp_path)


def test_class_keeps_the_systems_names(tmp_path: Path) -> None:
    anna = dataclasses.replace(handed_in("anna"), number="12", folder="Anna_12_assignsubmission_file_")
    with Gradebook(tmp_path) as book:
        book.begin(ASSIGNMENT, [anna, handed_in("ben")])
    participants = gradebook.participants(tmp_path)
    assert participants == [Participant("anna", "Anna", "12", anna.folder), Participant("ben", "Ben")]


EARLIER = Version("1.ipynb", b"0")


def test_digest_changes_with_what_affects_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    anna = handed_in("anna", "x = 1")
    assert digest(anna, ASSIGNMENT) == digest(handed_in("anna", "x = 1"), of_chapters(["02"]))
    changed = [
        digest(dataclasses.replace(anna, sheets={CHAPTER: anna.sheets[CHAPTER] + b" "}), ASSIGNMENT),
        digest(dataclasses.replace(anna, sheets={}, problems={CHAPTER: "is a link"}), ASSIGNMENT),
        digest(dataclasses.replace(anna, attempts={CHAPTER: 2}), ASSIGNMENT),
        digest(dataclasses.replace(anna, versions={CHAPTER: (EARLIER,)}), ASSIGNMENT),
        digest(dataclasses.replace(anna, versions={CHAPTER: (dataclasses.replace(EARLIER, data=b"1"),)}), ASSIGNMENT),
        digest(dataclasses.replace(anna, versions={CHAPTER: (dataclasses.replace(EARLIER, late_days=1),)}), ASSIGNMENT),
        digest(anna, dataclasses.replace(ASSIGNMENT, counts="best")),
        digest(anna, few()),
        digest(anna, dataclasses.replace(ASSIGNMENT, hidden="SEEDS = 1")),
    ]
    monkeypatch.setattr(gradebook, "code_digest", lambda *_: "other checks")
    changed.append(digest(anna, ASSIGNMENT))
    assert len({*changed, "same"}) == 11


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("+1", "'+1"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'=1"),
        ("\r\n=1", "'=1"),
        ("\uff1d1", "'\uff1d1"),
        ('a",=1,"b', 'a",=1,"b'),
        ("a\n=1", "a =1"),
        ("Müller, Zoë", "Müller, Zoë"),
        ("\udcff", "?"),
    ],
)
def test_names_cannot_be_formulas(tmp_path: Path, name: str, cell: str) -> None:
    write_table(tmp_path / "grades.csv", [mark("a", message=name, for_teacher=name, points=1.5)])
    raw = (tmp_path / "grades.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    for delimiter in ",;":
        rows = list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""), delimiter=delimiter))
        assert len(rows) == 2
        assert not any(text.startswith(("=", "+", "-", "@", "\t", "\r")) for text in rows[1])
    [row] = csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""))
    assert (row["message"], row["for_teacher"], row["points"]) == (cell, cell, "1.5")


def test_unreadable_file_is_reported_once_in_the_table(tmp_path: Path) -> None:
    lost = {"status": "unreadable", "message": "It breaks off.", "for_teacher": "Ask for it."}
    marks = [mark(key, exercise, **lost) for key in ("a", "b") for exercise in ("02-put-in-order", "02-halve-the-skip")]
    marks.append(mark("a", "03-clean-up", status="unreadable", message="It is empty.", for_teacher="Ask for that."))
    write_table(tmp_path / "grades.csv", marks)
    text = (tmp_path / "grades.csv").read_text(encoding="utf-8-sig")
    rows = [(row["message"], row["for_teacher"]) for row in csv.DictReader(io.StringIO(text, newline=""))]
    once = [("It breaks off.", "Ask for it."), ("Same as for 02-put-in-order.", "")]
    assert rows == [*once, *once, ("It is empty.", "Ask for that.")]


# ---- progress --------------------------------------------------------------------------------------------------------


def test_progress_shows_count_and_remaining_time() -> None:
    stream, now = io.StringIO(), [0.0]
    progress = Progress(5, stream, lambda: now[0])
    progress.begin()
    for status, seconds in (("passed", 20), ("failed", 20), ("error", 20), ("passed", 1), ("passed", 20)):
        now[0] += seconds
        progress.add([mark("a"), mark("a", status=status)])
    assert stream.getvalue().splitlines() == [
        "Grading 5 students: the workers load torch, which takes a few seconds …",
        "1/5 students · 2/2 answers passed",
        "2/5 students · 3/4 answers passed · about 1 min 00 s left",
        "3/5 students · 4/6 answers passed · 1 not graded, because the grader failed · about 40 s left",
        "5/5 students · 8/10 answers passed · 1 not graded, because the grader failed · took 1 min 21 s",
    ]
